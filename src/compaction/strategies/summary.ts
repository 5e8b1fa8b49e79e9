import type { Span } from '../../conversation/cuts.ts';
import { type Conversation, withMessages } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { readOpenings, summaryMessageText } from '../../conversation/summary-message.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import { type Covered, readCovered } from '../../memory/covered.ts';
import type { Survival } from '../../memory/facts/facts.ts';
import { MARKER_SOURCE, originalIndex } from '../../memory/markers.ts';
import { nothingRecalled, recallMemory } from '../../memory/recall.ts';
import { memoryWriter, proseTokensIn } from '../../memory/summarizer.ts';
import {
  askSummarizer,
  type Summarizer,
  type SummaryOutcome,
  type SummaryRequest,
} from '../../memory/summary-request.ts';
import { accountFor, demandTokens } from '../../memory/survival.ts';
import { opening } from '../../memory/tell.ts';
import { tokensOf } from '../../tokens/measure.ts';
import { shortenText } from '../overflow/draft.ts';
import { truncateHeadForRetry } from '../overflow/truncation.ts';
import { findFloor, type Layout, layOut, layoutEdits } from '../plan/layout.ts';
import { type PinLimits, spansOf } from '../plan/pins.ts';
import type { Edit } from '../plan/plan.ts';
import type { StrategyContext } from '../plan/strategy.ts';
import { surveyOf } from '../plan/survey.ts';
import { tailStart } from '../plan/tail.ts';

/** Share of the target that one text of the user's may take as it is, and that a quotation of it may take. */
const ASKED_SHARE = 0.5;
/** A text of the user's this short always stays: a summary of it would be no shorter, whatever instructions and tools take. */
const SHORT_TEXT_TOKENS = 200;
const QUOTED_SHARE = 0.25;
/** Share of the target that system messages behind the first answer may take, the newest first. */
const SYSTEM_SHARE = 0.1;
/** Tokens of the newest rounds that stay: a share of the target, and its limits. */
const TAIL_SHARE = 0.2;
const SMALLEST_TAIL_TOKENS = 2000;
const LARGEST_TAIL_TOKENS = 60_000;
/** So many of the newest rounds and messages stay, as long as they take no more than this share of the room. */
const RECENT_ROUNDS = 2;
const RECENT_MESSAGES = 10;
const RECENT_SHARE = 0.4;
/** The newest rounds never take more of the room than this, unless they are asked for. */
const LARGEST_TAIL_SHARE = 0.5;

/** What a summary would cover. */
export interface Source {
  readonly spans: readonly Span[];
  readonly layout: Layout;
  /** Tokens of the covered messages, an earlier summary included. */
  readonly tokens: number;
  /** Whether there is anything among them besides an earlier summary. */
  readonly hasNews: boolean;
  /** What the summarizer is shown, where it cannot be shown all that is covered. */
  readonly input?: readonly Message[] | undefined;
}

/** The newest part as the options of the strategy ask for it; 0 where an option is not set. */
export interface TailWishes {
  readonly keepRecentTokens: number;
  readonly keepRecentMessages: number;
  readonly keepRounds: number;
}

/** Stretches of the list, pinned as far as the target can bear it. */
export function spansWithin({ messages, frame }: Conversation, context: StrategyContext): readonly Span[] {
  const { estimator, pins, targetTokens } = context;
  const framed = estimator.countSystem(frame) + estimator.countTools(frame);
  return spansOf(messages, pins, pinLimits(messages, context, targetTokens - framed));
}

/** Finds what leaves and what stays. */
export function findSource(conversation: Conversation, context: StrategyContext, wishes: TailWishes): Source {
  const { messages, frame } = conversation;
  const { estimator, targetTokens } = context;
  const framed = estimator.countSystem(frame) + estimator.countTools(frame);
  const spans = spansWithin(conversation, context);
  const pinned = spans.filter(({ isPinned }) => isPinned);
  const stays = pinned.reduce(
    (sum, span) => sum + tokensOf(messages.slice(span.start, span.end), estimator),
    framed,
  );
  const cut = chooseCut(conversation, context, { wishes, room: Math.max(0, targetTokens - stays) });
  return sourceAt(conversation, context, { spans, cut });
}

/** What leaves when the tail begins at `cut`. */
export function sourceAt(
  conversation: Conversation,
  context: StrategyContext,
  { spans, cut }: { readonly spans: readonly Span[]; readonly cut: number },
): Source {
  const { messages } = conversation;
  const { estimator, targetTokens } = context;
  const layout = layOut(conversation, {
    spans,
    cut,
    shorten: (text) =>
      shortenText(text, Math.max(SHORT_TEXT_TOKENS, targetTokens * QUOTED_SHARE), (each) =>
        estimator.countText(each),
      ),
  });
  const tokens = layout.leaving.reduce(
    (sum, span) => sum + tokensOf(messages.slice(span.start, span.end), estimator),
    0,
  );
  const hasNews = layout.leaving.some(({ start, end }) =>
    messages.slice(start, end).some((message) => readOpenings(message) === undefined),
  );
  return { spans, layout, tokens, hasNews };
}

function pinLimits(
  messages: readonly Message[],
  { estimator, targetTokens }: StrategyContext,
  room: number,
): PinLimits {
  const { systemMessages } = surveyOf(messages);
  const firstAnswer = messages.findIndex(({ role }) => role === 'assistant');
  const kept = new Set<number>();
  const seen = new Set<string>();
  let tokens = 0;
  for (const index of systemMessages.toReversed()) {
    const message = messages[index];
    if (message === undefined) continue;
    // What a harness repeats word for word is needed once.
    const text = JSON.stringify(message.raw);
    const isFirst = index < firstAnswer || firstAnswer === -1;
    if (!isFirst && seen.has(text)) continue;
    seen.add(text);
    if (!isFirst) tokens += estimator.countMessage(message);
    if (isFirst || tokens <= targetTokens * SYSTEM_SHARE) kept.add(index);
  }
  return {
    systemMessages: kept,
    // Where the instructions take the whole target, a short text stays all the same.
    isShortEnough: (asked) =>
      estimator.countMessage(asked) <=
      Math.max(SHORT_TEXT_TOKENS, room * ASKED_SHARE, targetTokens * QUOTED_SHARE),
  };
}

/** Where the tail begins: as the options say, or with what the target can spare. */
function chooseCut(
  conversation: Conversation,
  { estimator, targetTokens }: StrategyContext,
  { wishes, room }: { readonly wishes: TailWishes; readonly room: number },
): number {
  const { keepRecentTokens, keepRecentMessages, keepRounds } = wishes;
  if (keepRecentTokens + keepRecentMessages + keepRounds > 0)
    return tailStart(conversation, estimator, {
      keepTokens: keepRecentTokens,
      keepRounds,
      keepMessages: keepRecentMessages,
    });
  const share = Math.min(LARGEST_TAIL_TOKENS, Math.max(SMALLEST_TAIL_TOKENS, targetTokens * TAIL_SHARE));
  return tailStart(conversation, estimator, {
    keepTokens: Math.min(share, room * LARGEST_TAIL_SHARE),
    keepRounds: RECENT_ROUNDS,
    keepMessages: RECENT_MESSAGES,
    mostTokens: room * RECENT_SHARE,
  });
}

/** A summary whose input was too long for the summarizer. */
export interface TooLong {
  readonly source: Source;
  readonly overflow: OverflowFacts | undefined;
  /** The number of the retry, from 1. */
  readonly attempt: number;
  /** What the summary may have. */
  readonly summaryTokens: number;
}

/** Share of the input that goes, by retry, where the excess is not known; and the factor for one that is known. */
const SHARES = [0.2, 0.4, 0.6];
const MARGIN = 1.1;

/**
 * The source with an input that is as much smaller as the refusal asks for. Where the target leaves room for them, the
 * newest covered rounds stay in the conversation as they are. Otherwise the oldest leave the input, and our own memory tells
 * of them, so that nothing is covered without having been read. Undefined when nothing can go.
 */
export function smallerInput(
  conversation: Conversation,
  context: StrategyContext,
  tooLong: TooLong,
): Source | undefined {
  return withoutNewest(conversation, context, tooLong) ?? withoutOldest(conversation, context, tooLong);
}

function withoutNewest(
  conversation: Conversation,
  context: StrategyContext,
  { source, overflow, attempt, summaryTokens }: TooLong,
): Source | undefined {
  const { messages } = conversation;
  const gap = gapOf(source, overflow, attempt);
  let freed = 0;
  let cut = source.layout.cut;
  for (const { start, end } of source.layout.leaving.toReversed()) {
    if (freed >= gap) break;
    freed += tokensOf(messages.slice(start, end), context.estimator);
    cut = start;
  }
  const smaller = sourceAt(conversation, context, { spans: source.spans, cut });
  const { tokens } = findFloor(conversation, context.estimator, smaller.layout);
  const isEnough = freed >= gap && smaller.hasNews && tokens + summaryTokens <= context.targetTokens;
  return isEnough ? smaller : undefined;
}

/** The excess is in the provider's tokens, the input is counted in ours. */
function gapOf({ tokens }: Source, overflow: OverflowFacts | undefined, attempt: number): number {
  const { excessTokens, actualTokens } = overflow ?? {};
  if (excessTokens === undefined || excessTokens <= 0) return tokens * (SHARES[attempt - 1] ?? 0.6);
  const scale = actualTokens === undefined || actualTokens <= 0 ? 1 : tokens / actualTokens;
  return excessTokens * Math.min(1, scale) * MARGIN;
}

function withoutOldest(
  conversation: Conversation,
  context: StrategyContext,
  { source, overflow, attempt }: TooLong,
): Source | undefined {
  const shown = source.input ?? newsOf(conversation, source);
  const truncated = truncateHeadForRetry(withMessages(conversation, shown), {
    estimator: context.estimator,
    overflow,
    attempt,
    isSummaryInput: true,
  });
  return truncated === null ? undefined : { ...source, input: truncated.conversation.messages };
}

function newsOf({ messages }: Conversation, { layout }: Source): readonly Message[] {
  return layout.leaving
    .flatMap(({ start, end }) => messages.slice(start, end))
    .filter((message) => readOpenings(message) === undefined);
}

/** A shorter summary is not worth its place. */
export const SMALLEST_SUMMARY_TOKENS = 96;

/** What stands around demands in a memory of nothing else, behind its first lines. */
const AROUND_DEMANDS = 100;
/** What is told behind the first lines in any case: else many handles would leave no memory at all. */
const LEAST_TOLD_TOKENS = 60;

type Written =
  | Extract<SummaryOutcome, { readonly status: 'failed' }>
  | (Extract<SummaryOutcome, { readonly status: 'summarized' }> & { readonly survival: readonly Survival[] });

/** What a summary speaks for, and what every request for it has. */
export function coverageOf(
  conversation: Conversation,
  { estimator, signal, handleFor }: StrategyContext,
  layout: Layout,
) {
  const { messages } = conversation;
  const leaving = layout.leaving.flatMap(({ start, end }) => messages.slice(start, end));
  const quoted = layout.opening.flatMap(({ kind, text }) => (kind === 'system' ? [] : [text]));
  const covered = readCovered(messages, layout.leaving, quoted);
  const { previousSummary } = covered;
  return {
    leaving,
    covered,
    handle: handleFor?.(leaving),
    request: { messages: covered.messages, conversation, previousSummary, quoted, estimator, signal },
  };
}

/** The edits that put a summary in the place of what it speaks for, marked with how much of the original that is. */
export function summaryEdits(
  messages: readonly Message[],
  layout: Layout,
  { text, handle }: { readonly text: string; readonly handle: string | undefined },
): readonly Edit[] {
  const behind = layout.kept.filter((index) => index >= layout.place).length;
  const marker = { coveredUntil: originalIndex(messages, layout.cut) - behind, source: MARKER_SOURCE };
  return layoutEdits(layout, summaryMessageText(text, marker, handle), { isSummary: true });
}

/**
 * A memory of what is covered, and the account of what it keeps. Demands of the user are the one thing that may take more
 * than the room; the prose of a summarizer has its place beside them.
 */
export async function writeSummaryOf(
  summarizer: Summarizer,
  covered: Covered,
  request: SummaryRequest,
): Promise<Written> {
  const demanded = demandTokens(covered, (text) => request.estimator.countText(text));
  const opened = openingTokens(request);
  const due = demanded === 0 ? 0 : Math.ceil(demanded + opened) + AROUND_DEMANDS;
  const writesProse = summarizer.asksModel || summarizer.writesMemory !== true;
  const proseTokens = proseTokensIn(request.maximumTokens);
  const maximumTokens = Math.max(
    request.maximumTokens,
    Math.ceil(opened) + LEAST_TOLD_TOKENS,
    writesProse && due > 0 ? due + proseTokens : due,
  );
  const outcome = await askSummarizer(memoryWriter(summarizer), { ...request, maximumTokens, proseTokens });
  return outcome.status === 'failed' ? outcome : { ...outcome, survival: accountFor(outcome.text, covered) };
}

/** What the first lines of a memory take: they name every handle under which the past can be read again. */
function openingTokens({ previousSummary, archive, estimator }: SummaryRequest): number {
  const earlier = previousSummary === undefined ? nothingRecalled() : recallMemory(previousSummary);
  const handles = [...earlier.handles, ...(archive === undefined ? [] : [archive.handle])];
  return estimator.countText(opening({ rounds: 99_999, root: earlier.root, handles, isTerse: false }));
}
