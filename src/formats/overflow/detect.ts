import { bareWordings, mediaWordings } from './bare-wordings.ts';
import { overflowCodes } from './codes.ts';
import { collectStatements, type Statement } from './evidence.ts';
import { lookAlikes } from './look-alikes.ts';
import { completeNumbers, isOutputTheCause } from './numbers.ts';
import type { Overflow } from './overflow.ts';
import { capturedNumbers, type Wording, type WordingNumbers } from './wording.ts';
import { numberedWordings, rateWindowWording } from './wordings.ts';

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
