import { stripBoundReasoning } from './bound-reasoning.ts';
import type { Edit } from './edit.ts';
import type { Conversation } from './format.ts';
import { legalCuts } from './legality.ts';
import type { Message } from './message.ts';
import { ensureToolResultPairing } from './pairing.ts';
import { type PinOptions, pinnedMessages } from './pins.ts';
import { applyPlan } from './plan.ts';
import { type Receipt, requestTokens, writeReceipt } from './receipt.ts';
import { groupRounds } from './rounds.ts';
import type { TokenEstimator } from './token-estimator.ts';

/** What a provider said about a request that did not fit, in its own tokens: what `parseOverflow` finds in an error. */
export interface OverflowFacts {
  /** `output-too-large` is cured by less output, `media-limit` by less media, everything else by a shorter prompt. */
  readonly kind: string;
  readonly actualTokens?: number | undefined;
  readonly limitTokens?: number | undefined;
  readonly requestedOutputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  /** How much has to go; undefined when the provider did not say enough to know. */
  readonly excessTokens?: number | undefined;
  /** Whether the provider stopped counting, so that the prompt may be far longer than `actualTokens`. */
  readonly countIsLowerBound?: boolean | undefined;
}

/**
 * - `keep-preamble`: the oldest rounds go first; what is pinned goes after long tool results were shortened, and what
 *   stands before the first answer goes last. Estimates are scaled to the provider's count.
 * - `literal`: strictly oldest first, the preamble included, by the provider's number or a fixed fifth of the rounds.
 */
export type RetryPolicy = 'keep-preamble' | 'literal';

export interface RetryTruncationOptions {
  readonly estimator: TokenEstimator;
  /** What the refusal said. Without an excess in it, a fraction of the rounds goes. */
  readonly overflow?: OverflowFacts | undefined;
  /** The number of the retry this is for, from 1. Later ones drop larger fractions. Default 1. */
  readonly attempt?: number | undefined;
  /** The model's window, for when the provider names no limit. `literal` does without. */
  readonly windowTokens?: number | undefined;
  /** Default `keep-preamble`. */
  readonly policy?: RetryPolicy | undefined;
  /** Share of the excess that goes on top of it. Default 0.1, for `literal` 0. */
  readonly marginFraction?: number | undefined;
  /** Estimated tokens that should go in any case, as far as rounds without a pin have them. `literal` does without. */
  readonly dropAtLeastTokens?: number | undefined;
  readonly pins?: PinOptions | undefined;
  /** Whether the model refuses its own reasoning behind a prefix that was changed. Default false. */
  readonly bindsReasoning?: boolean | undefined;
}

/** A conversation to try again with. It is a view for one request: what was dropped is covered by no summary. */
export interface RetryTruncation {
  readonly conversation: Conversation;
  /** Rounds that left now. Those that can only leave together count as one. */
  readonly droppedRounds: number;
  /** Messages that left with them; markers do not count. */
  readonly droppedMessages: number;
  /** Tool results of which only head and tail are left. */
  readonly shortenedResults: number;
  /** Text of the user message that stands where rounds are missing; undefined when none ever left. */
  readonly marker: string | undefined;
  /** The estimated tokens that had to go, where a number was known. */
  readonly gapTokens: number | undefined;
  /** The share of the rounds that was to go, where the provider told no number. */
  readonly fraction: number | undefined;
  /** What became of every message that was given. */
  readonly receipt: Receipt;
}

/** A marker that other programs leave. It is taken for one of ours. */
const FOREIGN_MARKER = '[earlier conversation truncated for compaction retry]';

/** No result gets shorter than this by shortening. */
const SHORTEST_RESULT_TOKENS = 256;

const SHORTENING_TRIES = 4;

interface PolicyRules {
  /** Share of the rounds that goes when no number is known, by retry. */
  readonly fractions: readonly number[];
  readonly marginFraction: number;
  /** Whether our own estimate may say how much goes. */
  readonly usesEstimate: boolean;
  /** Whether what is pinned goes last, after long results were shortened. */
  readonly sparesPins: boolean;
}

const POLICIES: Readonly<Record<RetryPolicy, PolicyRules>> = {
  'keep-preamble': {
    fractions: [0.2, 0.4, 0.6],
    marginFraction: 0.1,
    usesEstimate: true,
    sparesPins: true,
  },
  literal: {
    fractions: [0.2],
    marginFraction: 0,
    usesEstimate: false,
    sparesPins: false,
  },
};

/**
 * The conversation without its oldest rounds, for one more try after a refusal; null when nothing can go. The newest
 * round always stays, and so do system messages at the head and a provider's own summary. A user message marks where
 * rounds are missing and counts them; calling again with the result replaces it, so there is never more than one.
 */
export function truncateHeadForRetry(
  conversation: Conversation,
  options: RetryTruncationOptions,
): RetryTruncation | null {
  const rules = POLICIES[options.policy ?? 'keep-preamble'];
  const old = findMarkers(conversation.messages);
  const messages = conversation.messages.filter((_, index) => !old.places.has(index));
  const amount = amountToDrop(conversation, rules, options);
  const choice = chooseDrops(messages, amount, rules, options);
  if (choice === undefined) return null;

  const { dropped, shortened } = choice;
  const marker = dropped.length === 0 ? old.text : markerText(old.droppedRounds + dropped.length);
  const markerAt = Math.min(old.start, dropped[0]?.start ?? old.start);
  const changes: readonly Edit[] = [
    ...dropped.map(({ start, end }): Edit => ({ type: 'drop', start, end })),
    // What stays behind a gap begins with an answer, so a user message fits there in every format.
    ...(marker === undefined ? [] : [{ type: 'insert', before: markerAt, text: marker } as const]),
    ...shortened,
  ];
  const bound = options.bindsReasoning === true ? stripBoundReasoning(messages, changes) : [];
  const withoutMarkers = [...old.places].map((start): Edit => ({ type: 'drop', start, end: start + 1 }));
  const applied = applyPlan(conversation, { steps: [withoutMarkers, [...changes, ...bound]] });
  // Merging would hide the marker inside the user's own message.
  const repaired = ensureToolResultPairing(applied.conversation, { mergeUserMessages: false });
  return {
    conversation: repaired,
    droppedRounds: dropped.length,
    droppedMessages: dropped.reduce((sum, { start, end }) => sum + end - start, 0),
    shortenedResults: shortened.length,
    marker,
    gapTokens: amount.gapTokens ?? amount.localGapTokens,
    fraction: amount.gapTokens === undefined ? amount.fraction : undefined,
    receipt: writeReceipt(
      conversation,
      { ...applied, conversation: repaired },
      { estimator: options.estimator, strategy: 'truncate-head' },
    ),
  };
}

function markerText(droppedRounds: number): string {
  const count = `${droppedRounds} ${droppedRounds === 1 ? 'round' : 'rounds'}`;
  return `[earlier conversation left out: ${count} did not fit the context window]`;
}

interface Markers {
  readonly places: ReadonlySet<number>;
  /** Where the first one stands; infinite when there is none. */
  readonly start: number;
  readonly text: string | undefined;
  /** The rounds they speak of; another program's does not say. */
  readonly droppedRounds: number;
}

function findMarkers(messages: readonly Message[]): Markers {
  const places = new Set<number>();
  let text: string | undefined;
  let droppedRounds = 0;
  // A marker always has something behind it; the last message is the user's, whatever it says.
  for (const [index, message] of messages.slice(0, -1).entries()) {
    const [block] = message.blocks;
    if (message.role !== 'user' || message.blocks.length !== 1 || block?.type !== 'text') continue;
    const count = Number(/\d+/.exec(block.text.slice(0, 100))?.[0] ?? 0);
    const isOurs = block.text === markerText(count);
    if (!isOurs && block.text !== FOREIGN_MARKER) continue;
    places.add(index);
    text ??= block.text;
    droppedRounds += isOurs ? count : 0;
  }
  const [start = Number.POSITIVE_INFINITY] = places;
  return { places, start, text, droppedRounds };
}

/** How much goes, in estimated tokens, or as a share of the rounds. */
interface Amount {
  /** By the provider's own numbers. */
  readonly gapTokens: number | undefined;
  /** By our estimate, where the provider gave no number. */
  readonly localGapTokens: number | undefined;
  readonly atLeastTokens: number;
  readonly fraction: number;
}

function amountToDrop(
  conversation: Conversation,
  rules: PolicyRules,
  { estimator, overflow, ...options }: RetryTruncationOptions,
): Amount {
  const { excessTokens, actualTokens, requestedOutputTokens = 0 } = overflow ?? {};
  const attempt = Math.max(1, Math.floor(options.attempt ?? 1));
  const fraction = rules.fractions[attempt - 1] ?? rules.fractions.at(-1) ?? 0;
  const atLeastTokens = rules.usesEstimate ? (options.dropAtLeastTokens ?? 0) : 0;
  const estimate = rules.usesEstimate ? requestTokens(conversation, estimator) : undefined;
  if (excessTokens !== undefined && excessTokens > 0) {
    // The excess is in the provider's tokens, what is dropped in ours.
    const isCounted = actualTokens !== undefined && actualTokens > 0 && overflow?.countIsLowerBound !== true;
    const isScaled = estimate !== undefined && isCounted;
    const scale = isScaled ? estimate / actualTokens : 1;
    const gapTokens = excessTokens * scale * (1 + (options.marginFraction ?? rules.marginFraction));
    return { gapTokens, localGapTokens: undefined, atLeastTokens, fraction };
  }
  const limitTokens = overflow?.limitTokens ?? options.windowTokens;
  const isOver = estimate !== undefined && limitTokens !== undefined;
  const localGap = isOver ? estimate + requestedOutputTokens - limitTokens : 0;
  const localGapTokens = localGap > 0 ? localGap : undefined;
  return { gapTokens: undefined, localGapTokens, atLeastTokens, fraction };
}

/** Messages that can only stay or go as a whole: a round, or several that no legal cut parts. */
interface Unit {
  readonly start: number;
  readonly end: number;
}

interface Choice {
  /** In order. */
  readonly dropped: readonly Unit[];
  readonly shortened: readonly BlockRewrite[];
}

function chooseDrops(
  messages: readonly Message[],
  { gapTokens, localGapTokens, atLeastTokens, fraction }: Amount,
  rules: PolicyRules,
  { estimator, pins }: RetryTruncationOptions,
): Choice | undefined {
  const units = unitsOf(messages);
  const pinned = rules.sparesPins ? pinnedMessages(messages, pins) : undefined;
  const { first, last } = orderOfLeaving(messages, units, pinned);
  const dropped = new Set<Unit>();
  let freed = 0;
  const dropUntil = (candidates: readonly Unit[], isEnough: () => boolean) => {
    for (const unit of candidates) {
      if (isEnough()) return;
      dropped.add(unit);
      freed += tokensOf(messages.slice(unit.start, unit.end), estimator);
    }
  };

  const wanted = Math.max(gapTokens ?? localGapTokens ?? 0, atLeastTokens);
  const share = gapTokens === undefined ? Math.max(1, Math.floor(fraction * units.length)) : 0;
  dropUntil(first, () => freed >= wanted && dropped.size >= share);

  const kept = units.filter((unit) => !dropped.has(unit));
  const shareOfAll = dropped.size === 0 ? fraction * tokensOf(messages, estimator) : 0;
  const missing = (gapTokens ?? localGapTokens ?? shareOfAll) - freed;
  const shortening = rules.sparesPins ? shortenResults(messages, kept, missing, estimator) : undefined;
  const shortened = shortening?.rewrites ?? [];
  freed += shortening?.freedTokens ?? 0;

  // Only the provider's own word is enough to part with a pin while anything else could be tried.
  dropUntil(last, () => (gapTokens === undefined ? dropped.size + shortened.length > 0 : freed >= gapTokens));
  if (dropped.size + shortened.length === 0) return undefined;
  const leaves = new Uint8Array(messages.length);
  for (const { start, end } of dropped) leaves.fill(1, start, end);
  return {
    dropped: units.filter((unit) => dropped.has(unit)),
    shortened: shortened.filter(({ message }) => leaves[message] === 0),
  };
}

function unitsOf(messages: readonly Message[]): readonly Unit[] {
  const cuts = new Set(legalCuts(messages));
  const starts = groupRounds(messages)
    .map(({ start }) => start)
    .filter((start) => cuts.has(start));
  const firstSpoken = messages.findIndex(({ role }) => role !== 'system');
  return starts
    .map((start, index) => ({
      start: index === 0 ? firstSpoken : start,
      end: starts[index + 1] ?? messages.length,
    }))
    .filter(({ start, end }) => start !== -1 && start < end);
}

/** What may leave: those that go first, and those that go only when nothing else is left. Without pins all are equal. */
function orderOfLeaving(
  messages: readonly Message[],
  units: readonly Unit[],
  pinned: ReadonlySet<number> | undefined,
): { readonly first: readonly Unit[]; readonly last: readonly Unit[] } {
  const movable = units.slice(0, -1).filter((unit) => !hasBorder(messages.slice(unit.start, unit.end)));
  if (pinned === undefined) return { first: movable, last: [] };
  const isPreamble = ({ start }: Unit) => messages[start]?.role !== 'assistant';
  const isPinned = ({ start, end }: Unit) => {
    for (let index = start; index < end; index++) if (pinned.has(index)) return true;
    return false;
  };
  const rounds = movable.filter((unit) => !isPreamble(unit));
  return {
    first: rounds.filter((unit) => !isPinned(unit)),
    last: [...rounds.filter(isPinned), ...movable.filter(isPreamble)],
  };
}

function hasBorder(messages: readonly Message[]): boolean {
  return messages.some(({ blocks }) => blocks.some(({ type }) => type === 'compaction'));
}

function tokensOf(messages: readonly Message[], estimator: TokenEstimator): number {
  return messages.reduce((sum, message) => sum + estimator.countMessage(message), 0);
}

type BlockRewrite = Extract<Edit, { type: 'rewrite' }>;

/** Shortens results until `missingTokens` are freed, the largest first, each no more than it has to. */
function shortenResults(
  messages: readonly Message[],
  units: readonly Unit[],
  missingTokens: number,
  estimator: TokenEstimator,
): { readonly rewrites: readonly BlockRewrite[]; readonly freedTokens: number } {
  const rewrites: BlockRewrite[] = [];
  let freedTokens = 0;
  for (const { message, block, text, tokens } of textResults(messages, units, estimator)) {
    if (freedTokens >= missingTokens || tokens <= 2 * SHORTEST_RESULT_TOKENS) break;
    // The note costs tokens too: less than a tenth is not worth one.
    const wanted = Math.min(tokens - (missingTokens - freedTokens), tokens * 0.9);
    const shorter = shortenTo(Math.max(SHORTEST_RESULT_TOKENS, wanted), { text, tokens }, estimator);
    const saved = tokens - estimator.countText(shorter);
    if (saved <= 0) continue;
    rewrites.push({ type: 'rewrite', message, block, text: shorter });
    freedTokens += saved;
  }
  return { rewrites, freedTokens };
}

interface TextResult {
  readonly message: number;
  readonly block: number;
  readonly text: string;
  readonly tokens: number;
}

/** The client's tool results that are nothing but text, largest first. */
function textResults(
  messages: readonly Message[],
  units: readonly Unit[],
  estimator: TokenEstimator,
): readonly TextResult[] {
  const found: TextResult[] = [];
  for (const { start, end } of units) {
    for (let message = start; message < end; message++) {
      for (const [block, value] of (messages[message]?.blocks ?? []).entries()) {
        if (value.type !== 'tool-result' || value.runBy === 'server') continue;
        const texts = value.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []));
        if (texts.length < value.content.length) continue;
        const tokens = estimator.countBlock(value);
        found.push({ message, block, text: texts.join('\n'), tokens });
      }
    }
  }
  return found.toSorted((left, right) => right.tokens - left.tokens);
}

/** Tokens are not spread evenly over a text, and the note counts too: a miss corrects the next try. */
function shortenTo(
  goalTokens: number,
  { text, tokens }: Pick<TextResult, 'text' | 'tokens'>,
  estimator: TokenEstimator,
): string {
  let length = text.length;
  let size = tokens;
  let shorter = text;
  for (let tries = 0; tries < SHORTENING_TRIES && size > goalTokens; tries++) {
    length = Math.floor((length * goalTokens) / size);
    shorter = leaveOutMiddle(text, length);
    size = estimator.countText(shorter);
  }
  return shorter;
}

/** Two thirds of `length` from the head and one third from the tail, and a note between. Halves no character. */
function leaveOutMiddle(text: string, length: number): string {
  const tailLength = Math.floor(length / 3);
  const head = text.slice(0, length - tailLength).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - tailLength).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}\n[${text.length - head.length - tail.length} characters left out to fit the context window]\n${tail}`;
}
