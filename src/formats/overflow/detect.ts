import { bareWordings, lookAlikes, mediaWordings, overflowCodes } from './bare-wordings.ts';
import { collectStatements, type Statement } from './evidence.ts';
import {
  capturedNumbers,
  numberedWordings,
  rateWindowWording,
  type Wording,
  type WordingNumbers,
} from './wordings.ts';

/** What a provider said about a request that did not fit, in its own tokens. */
export interface OverflowFacts {
  /** `output-too-large` is cured by less output, `media-limit` by less media, everything else by a shorter prompt. */
  readonly kind: string;
  /** Size of the prompt. */
  readonly actualTokens?: number | undefined;
  /** The window, or the rate limit for `rate-window`. */
  readonly limitTokens?: number | undefined;
  readonly requestedOutputTokens?: number | undefined;
  /** Prompt and requested output together. */
  readonly totalTokens?: number | undefined;
  /** How much must go, always above 0; undefined when the provider did not say enough to know. */
  readonly excessTokens?: number | undefined;
  /**
   * Set when the server stopped counting: the prompt is at least `actualTokens`, perhaps far more, so no excess can
   * be computed from it. Use a count of your own.
   */
  readonly countIsLowerBound?: boolean | undefined;
}

/**
 * What kind of "too large" a provider reported, named by its cure.
 *
 * - `prompt-too-long`: the prompt alone exceeds the window; shrink the prompt
 * - `output-too-large`: the prompt fits, prompt plus requested output does not; lower the output limit
 * - `rate-window`: one request asks for more than the tokens-per-minute limit; shrink to the limit, waiting never helps
 * - `body-too-large`: too many bytes; media goes first
 * - `media-limit`: too many or too large images or pages; strip media, not history
 * - `soft`: an answer with HTTP 200 that shows that the context was full or silently cut
 */
export type OverflowKind = NonNullable<Wording['kind']> | 'output-too-large' | 'soft';

/** A provider's statement that something did not fit. Numbers are the provider's own, in its own tokens. */
export interface Overflow extends OverflowFacts {
  readonly kind: OverflowKind;
  /** Whose wording, code or sign was recognised. Compatible servers share wordings, so it need not be who sent it. */
  readonly provider: string;
  readonly countIsLowerBound?: true | undefined;
  /** The words that were recognised, shortened. */
  readonly message: string;
}

/** What is known about a response besides its body. */
export interface OverflowHint {
  /** HTTP status of the response. A refusal (300 and up) goes before any status that the error itself states. */
  readonly status?: number | undefined;
}

const wordings: readonly Wording[] = [...numberedWordings, ...mediaWordings, ...bareWordings];
const codes = new Map(overflowCodes.map((row) => [row.code, row]));

// A stream can fail after its 200. 413 and 422 are what Vertex, Groq and Together send instead of 400.
const refusals = new Set([undefined, 200, 400, 413, 422]);
const rateRefusals = new Set([...refusals, 429]);
const maximumMessageLength = 500;

/**
 * What an error says about size, or undefined when it is about something else: rate limits, quotas, throttling, crashes.
 * Takes anything: errors of provider SDKs, bodies as values or text, event payloads, plain messages. Never throws.
 */
export function parseOverflow(error: unknown, hint: OverflowHint = {}): Overflow | undefined {
  const statements = collectStatements(error, hint.status);
  const found = statements.map(judge).filter((overflow) => overflow !== undefined);
  const mostTelling =
    found.find(({ limitTokens, excessTokens }) => limitTokens !== undefined || excessTokens !== undefined) ??
    found.find(({ kind }) => kind !== 'body-too-large') ??
    found[0];
  return mostTelling ?? judgeStatus(statements, hint);
}

/**
 * How many tokens a request was too large by, in the provider's count: actual minus limit, or total minus limit where
 * requested output counts too. Undefined when the error is no overflow, states no numbers, or they leave no gap.
 */
export function tokenGap(error: unknown): number | undefined {
  return parseOverflow(error)?.excessTokens;
}

function judge(statement: Statement): Overflow | undefined {
  const rateWindow = judgeRateWindow(statement);
  if (rateWindow !== undefined) return rateWindow;

  const code = statement.codes.map((value) => codes.get(value)).find((row) => row !== undefined);
  if (code !== undefined && !isRuledOut(statement.status)) {
    return toOverflow(statement, matchWording(statement.texts, wordings) ?? { wording: code });
  }
  if (hasLookAlike(statement)) return undefined;
  const match = matchWording(statement.texts, wordingsFor(statement.status));
  return match === undefined ? undefined : toOverflow(statement, match);
}

function judgeRateWindow(statement: Statement): Overflow | undefined {
  if (!rateRefusals.has(statement.status)) return undefined;
  const match = matchWording(statement.texts, [rateWindowWording]);
  const { actual = 0, limit = 0 } = match?.numbers ?? {};
  // Below the limit it is an ordinary rate limit, which time cures.
  return match === undefined || limit === 0 || actual <= limit ? undefined : toOverflow(statement, match);
}

/** Nothing but the status speaks: a body that is too large is refused by a server in front, in words of its own. */
function judgeStatus(statements: readonly Statement[], hint: OverflowHint): Overflow | undefined {
  const status = hint.status ?? statements.find((statement) => statement.status !== undefined)?.status;
  if (status !== 413 || statements.some(hasLookAlike)) return undefined;
  const message = statements.flatMap(({ texts }) => texts)[0] ?? 'HTTP 413';
  return { kind: 'body-too-large', provider: 'http', message: message.slice(0, maximumMessageLength) };
}

/** Never about size, whatever the body quotes. */
function isRuledOut(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 404 || (status !== undefined && status >= 500);
}

function wordingsFor(status: number | undefined): readonly Wording[] {
  return refusals.has(status)
    ? wordings
    : wordings.filter((row) => row.status !== undefined && row.status === status);
}

function hasLookAlike(statement: Statement): boolean {
  return [...statement.texts, ...statement.codes].some((text) =>
    lookAlikes.some(({ pattern }) => pattern.test(text)),
  );
}

interface Match {
  /** The row that decided: a wording, or a code without any known words beside it. */
  readonly wording: Pick<Wording, 'provider' | 'kind'>;
  readonly text?: string;
  readonly numbers?: WordingNumbers;
  readonly isLowerBound?: boolean;
}

function matchWording(texts: readonly string[], rows: readonly Wording[]): Match | undefined {
  for (const wording of rows) {
    for (const text of texts) {
      const match = wording.pattern.exec(text);
      if (match === null) continue;
      const isLowerBound = wording.isLowerBound === true || match.groups?.['atLeast'] !== undefined;
      return { wording, text, numbers: capturedNumbers(match), isLowerBound };
    }
  }
  return undefined;
}

function toOverflow(statement: Statement, { wording, text, numbers: stated, isLowerBound }: Match): Overflow {
  const numbers = completeNumbers(
    {
      ...stated,
      actual: stated?.actual ?? statement.promptTokens,
      limit: stated?.limit ?? statement.windowTokens,
    },
    isLowerBound === true,
  );
  const kind = wording.kind ?? (isOutputTheCause(numbers) ? 'output-too-large' : 'prompt-too-long');
  const message = text ?? statement.texts[0] ?? statement.codes.join(' ');
  return { kind, provider: wording.provider, ...numbers, message: message.slice(0, maximumMessageLength) };
}

/** The numbers of an overflow, as far as they are stated or follow from each other. */
type OverflowNumbers = Omit<Overflow, 'kind' | 'provider' | 'message'>;

// Where a server counts only up to the limit, a reservation above this share of the window is taken for the cause.
const oversizedOutputShare = 0.25;

/** Completes what a provider stated: prompt = total - output, total = prompt + output, excess = the larger - limit. */
function completeNumbers(stated: WordingNumbers, isLowerBound: boolean): OverflowNumbers {
  const { output, total } = stated;
  const limitTokens = positive(stated.limit);
  const actualTokens = stated.actual ?? difference(total, output);
  const totalTokens = total ?? sum(actualTokens, output);
  const largest = Math.max(actualTokens ?? 0, totalTokens ?? 0);
  const gap = limitTokens === undefined || isLowerBound ? undefined : largest - limitTokens;
  return {
    actualTokens,
    limitTokens,
    requestedOutputTokens: output,
    totalTokens,
    excessTokens: positive(stated.excess) ?? positive(gap),
    countIsLowerBound: isLowerBound ? true : undefined,
  };
}

/** Whether lowering the output limit is the cure: the prompt fits, prompt and output together do not. */
function isOutputTheCause(numbers: OverflowNumbers): boolean {
  const { actualTokens, limitTokens, requestedOutputTokens = 0, totalTokens = 0 } = numbers;
  if (limitTokens === undefined) return false;
  if (numbers.countIsLowerBound) return requestedOutputTokens > limitTokens * oversizedOutputShare;
  return actualTokens !== undefined && actualTokens < limitTokens && limitTokens < totalTokens;
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left + right;
}

function difference(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined || left < right ? undefined : left - right;
}
