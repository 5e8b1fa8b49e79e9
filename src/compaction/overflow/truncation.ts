/** Drops or shortens rounds after a provider has refused a request as too long, by the numbers it reported. */

import { fileAccess } from '../../conversation/file-access.ts';
import type { Conversation } from '../../conversation/format.ts';
import { callArguments, type Message, type ToolCallBlock } from '../../conversation/message.ts';
import { ensureToolResultPairing } from '../../conversation/pairing.ts';
import {
  type GroupOptions,
  groupRounds,
  largestRound,
  nameRound,
  type Round,
} from '../../conversation/rounds.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens, tokensOf } from '../../tokens/measure.ts';
import { type PinOptions, pinnedMessages } from '../plan/pins.ts';
import { applyPlan, type Edit, type Plan, stripBoundReasoning } from '../plan/plan.ts';
import { type Receipt, writeReceipt } from '../plan/receipt.ts';
import { isBorder } from '../plan/survey.ts';
import { amountToDrop, type Choice, chooseDrops, type RetryPolicy, rulesOf } from './choice.ts';

export interface RetryTruncationOptions {
  readonly estimator: TokenEstimator;
  /** What the refusal said. Without an excess in it, a fraction of the rounds goes. */
  readonly overflow?: OverflowFacts | undefined;
  /** The number of the retry this is for, from 1. Later ones drop larger fractions. Default 1. */
  readonly attempt?: number | undefined;
  /** The model's window, for when the provider names no limit. `literal` does without. */
  readonly windowTokens?: number | undefined;
  /** Default `oversized-first`. */
  readonly policy?: RetryPolicy | undefined;
  /** Share of the excess, or of the limit where that is less, that goes on top. Default 0.1, for `literal` 0. */
  readonly marginFraction?: number | undefined;
  /** Estimated tokens that should go in any case, as far as rounds without a pin have them. `literal` does without. */
  readonly dropAtLeastTokens?: number | undefined;
  readonly pins?: PinOptions | undefined;
  /** Whether the model refuses its own reasoning behind a prefix that was changed. Default false. */
  readonly bindsReasoning?: boolean | undefined;
  /**
   * Whether the messages are a part of a conversation that a summarizer was shown, rather than a request: its
   * instructions and tools do not count, no message is pinned, and none waits for an answer. Default false.
   */
  readonly isSummaryInput?: boolean | undefined;
}

/** A conversation to try again with. It is a view for one request: what was dropped is covered by no summary. */
export interface RetryTruncation {
  readonly conversation: Conversation;
  /** The same as edits of what was given. */
  readonly plan: Plan;
  /** Rounds that left now, named in the conversation that was given. */
  readonly droppedRounds: readonly NamedRound[];
  /** Messages that left with them; markers do not count. */
  readonly droppedMessages: number;
  /** Those messages, for a memory of them. */
  readonly leftOut: readonly Message[];
  /** Rounds with tool results of which only head and tail are left. */
  readonly shortenedRounds: readonly NamedRound[];
  /** How many such results there are. */
  readonly shortenedResults: number;
  /** Whether some of them are results that the model has not answered yet: they did not fit beside what has to stay. */
  readonly isCurrentTurnShortened: boolean;
  /** The largest round that was given: what most likely broke the request. */
  readonly largestRound: NamedRound | undefined;
  /** Text of the user message that stands where rounds are missing; undefined when none ever left. */
  readonly marker: string | undefined;
  /** The estimated tokens that had to go, where a number was known. */
  readonly gapTokens: number | undefined;
  /** The share of the rounds that was to go, where the provider told no number. */
  readonly fraction: number | undefined;
  /** What became of every message that was given. */
  readonly receipt: Receipt;
}

/**
 * The conversation with less in it, for one more try after a refusal; null when nothing can go. What goes first is up to
 * the policy. The newest round always stays, and so do system messages at the head and a provider's own summary. A user
 * message marks where rounds are missing and counts them; calling again with the result replaces it, so there is never
 * more than one.
 * @throws RoundfoldError `usage` for a policy that does not exist
 */
export function truncateHeadForRetry(
  conversation: Conversation,
  options: RetryTruncationOptions,
): RetryTruncation | null {
  const { estimator, isSummaryInput = false } = options;
  const rules = rulesOf(options.policy);
  const old = findMarkers(conversation.messages);
  const messages = conversation.messages.filter((_, index) => !old.places.has(index));
  const estimatedTokens = isSummaryInput
    ? estimator.countMessages(conversation.messages)
    : requestTokens(conversation, estimator);
  const amount = amountToDrop(estimatedTokens, rules, options);
  const choice = chooseDrops(messages, amount, rules, {
    estimator,
    pinned: isSummaryInput ? new Set() : pinnedMessages(messages, options.pins),
    hasCurrentTurn: !isSummaryInput,
  });
  if (choice === undefined) return null;

  const account = accountOf(conversation, old, choice, estimator);
  const { marker, edits } = writeEdits(old, choice, {
    droppedRounds: account.droppedRounds.length,
    placeBefore: (start) => markerPlace(conversation.format, messages, start),
  });
  const bound = options.bindsReasoning === true ? stripBoundReasoning(messages, edits) : [];
  const withoutMarkers = [...old.places].map((start): Edit => ({ type: 'drop', start, end: start + 1 }));
  const plan = { steps: [withoutMarkers, [...edits, ...bound]] };
  const applied = applyPlan(conversation, plan);
  // Merging would hide the marker inside the user's own message.
  const repaired = ensureToolResultPairing(applied.conversation, { mergeUserMessages: false });
  return {
    conversation: repaired,
    plan,
    ...account,
    shortenedResults: choice.shortened.length,
    isCurrentTurnShortened: choice.isCurrentTurnShortened,
    marker,
    gapTokens: amount.gapTokens ?? amount.localGapTokens,
    fraction: amount.gapTokens === undefined ? amount.fraction : undefined,
    receipt: writeReceipt(
      conversation,
      { ...applied, conversation: repaired },
      { estimator, strategy: 'truncate-head' },
    ),
  };
}

/** The edits of a choice, in the coordinates of the list without its old markers. */
function writeEdits(
  old: Markers,
  { dropped, shortened }: Choice,
  {
    droppedRounds,
    placeBefore,
  }: { readonly droppedRounds: number; readonly placeBefore: (start: number) => number | undefined },
): { readonly marker: string | undefined; readonly edits: readonly Edit[] } {
  const before = placeBefore(Math.min(old.start, dropped[0]?.start ?? old.start));
  const text = dropped.length === 0 ? old.text : markerText(old.droppedRounds + droppedRounds);
  const marker = before === undefined ? undefined : text;
  const edits: readonly Edit[] = [
    ...dropped.map(({ start, end }): Edit => ({ type: 'drop', start, end })),
    ...(before === undefined || text === undefined ? [] : [{ type: 'insert', before, text } as const]),
    ...shortened,
  ];
  return { marker, edits };
}

/**
 * Where the marker of a gap stands; undefined where two messages of the user would be neighbours that may not be: the
 * receipt alone says there that rounds are missing. What stays behind a gap begins with an answer, so a user message fits
 * in front of it, but for system messages that have to stand before an answer themselves: it stands in front of those.
 */
function markerPlace(
  { alternates, systemStands }: Conversation['format'],
  messages: readonly Message[],
  start: number,
): number | undefined {
  let place = start;
  while (systemStands !== 'anywhere' && messages[place - 1]?.role === 'system') place--;
  return alternates && messages[place - 1]?.role === 'user' ? undefined : place;
}

/** What a choice means for the conversation that was given, by the names of its rounds. */
function accountOf(
  { messages }: Conversation,
  old: Markers,
  { dropped, shortened }: Choice,
  estimator: TokenEstimator,
): Pick<
  RetryTruncation,
  'droppedRounds' | 'droppedMessages' | 'leftOut' | 'shortenedRounds' | 'largestRound'
> {
  const given = [...messages.keys()].filter((index) => !old.places.has(index));
  const leaving = new Set(dropped.flatMap(({ start, end }) => given.slice(start, end)));
  const shorter = new Set(shortened.map(({ message }) => given[message]));
  const rounds = nameRounds(messages, estimator);
  const roundsWith = (indices: ReadonlySet<number | undefined>) =>
    rounds.filter(({ round: { start, end } }) => {
      for (let index = start; index < end; index++) if (indices.has(index)) return true;
      return false;
    });
  return {
    droppedRounds: roundsWith(leaving),
    droppedMessages: leaving.size,
    leftOut: messages.filter((_, index) => leaving.has(index)),
    shortenedRounds: roundsWith(shorter),
    largestRound: largestOf(rounds),
  };
}

/** A marker that other programs leave. It is taken for one of ours. */
const FOREIGN_MARKER = '[earlier conversation truncated for compaction retry]';

/** Text of the user message that stands where rounds are missing. */
export function markerText(droppedRounds: number): string {
  const count = `${droppedRounds} ${droppedRounds === 1 ? 'round' : 'rounds'}`;
  return `[earlier conversation left out: ${count} did not fit the context window]`;
}

/** The markers that earlier retries have left in a list. */
export interface Markers {
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
  // Nobody reads what stands before the provider's own summary: a marker there stays as it is.
  const readFrom = messages.findLastIndex(isBorder);
  // A marker always has something behind it; the last message is the user's, whatever it says.
  for (const [index, message] of messages.slice(0, -1).entries()) {
    if (index < readFrom) continue;
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

/** A round with its size and a name for logs. Plain data. */
export interface NamedRound {
  readonly round: Round;
  /** For logs and diagnostics, as `nameRound` gives it. */
  readonly name: string;
  /** Estimated tokens of its messages. */
  readonly tokens: number;
}

/** A round with its content, its size and what it is about. */
export interface RoundDescription extends NamedRound {
  readonly messages: readonly Message[];
  /** What the first tool call is about: `src/a.ts`, `bash: npm`, `ask_expert`. Undefined for a round without calls. */
  readonly hint: string | undefined;
}

/** Names every round of a list, in order, and counts every message once. */
export function nameRounds(
  messages: readonly Message[],
  estimator: TokenEstimator,
  options: GroupOptions = {},
): readonly NamedRound[] {
  return groupRounds(messages, options).map((round) => {
    const tokens = tokensOf(messages.slice(round.start, round.end), estimator);
    return { round, name: nameRound(round, tokens), tokens };
  });
}

/** The largest of the rounds of a list, the earliest of equals; undefined for an empty list. */
export function largestOf(rounds: readonly NamedRound[]): NamedRound | undefined {
  const largest = largestRound(
    rounds.map(({ round }) => round),
    ({ index }) => rounds[index]?.tokens ?? 0,
  );
  return largest === undefined ? undefined : rounds[largest.index];
}

/** Describes every round of a list, in order. Takes the options of `groupRounds`, and counts every message once. */
export function describeRounds(
  messages: readonly Message[],
  estimator: TokenEstimator,
  options: GroupOptions = {},
): readonly RoundDescription[] {
  return nameRounds(messages, estimator, options).map((named) => {
    const own = messages.slice(named.round.start, named.round.end);
    const call = own.flatMap(({ blocks }) => blocks).find((block) => block.type === 'tool-call');
    return { ...named, messages: own, hint: call === undefined ? undefined : hintOf(call) };
  });
}

/** The file that a call is about, else the tool, with the program that it runs where it runs one. */
function hintOf(call: ToolCallBlock): string {
  const file = fileAccess(call)?.path;
  if (file !== undefined) return file;
  const values = callArguments(call) ?? {};
  const path = values['file_path'];
  if (typeof path === 'string' && path !== '') return path;
  const command: unknown = values['command'];
  const program = typeof command === 'string' ? FIRST_WORD.exec(command)?.[1] : undefined;
  return program === undefined ? call.name : `${call.name}: ${program}`;
}

const FIRST_WORD = /^\s*(\S{1,100})/;
