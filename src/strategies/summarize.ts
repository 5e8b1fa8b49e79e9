import { addUsage } from '../core/add-usage.ts';
import { type Covered, readCovered } from '../core/covered.ts';
import type { Edit } from '../core/edit.ts';
import { findFloor } from '../core/floor.ts';
import type { Conversation } from '../core/format.ts';
import type { Message, Usage } from '../core/message.ts';
import { integer, number, text } from '../core/options.ts';
import { type Span, spansOf } from '../core/pins.ts';
import { requestTokens } from '../core/receipt.ts';
import { newestRoundsStart } from '../core/rounds.ts';
import {
  defineStrategy,
  finish,
  notCompacted,
  type Outcome,
  type StrategyContext,
} from '../core/strategy.ts';
import type { SummaryOutcome, SummaryRequest } from '../core/summarizer.ts';
import { readSummaryMessage, summaryMessageText } from '../core/summary-message.ts';
import { type ToppedUp, tokensAside, topUp } from '../core/survival.ts';
import { type TailOptions, tailStart } from '../core/tail.ts';
import { linkTools } from '../core/tool-links.ts';

/** Models write no longer summaries well, and are paid by the word. */
const USUAL_SUMMARY_TOKENS = 8000;
/** Share of what the target leaves beside pinned messages that the newest round, and several of them, may take. */
const NEWEST_SHARE = 0.25;
const TAIL_SHARE = 0.15;
/** Share of the target that one text of the user's may take. */
const ASKED_SHARE = 0.5;
/** A shorter summary is not worth its place. */
const SMALLEST_SUMMARY_TOKENS = 64;
/** As long as any. */
const EXAMPLE_HANDLE = 'rf:0123456789abcdef0123456789abcdef';

/** Replaces older rounds by a summary. What is pinned and the newest rounds stay as they are. */
export const summarize = defineStrategy({
  name: 'summarize',
  summary: 'replace older rounds by a summary, keep the newest ones',
  options: {
    threshold: integer({ default: 0, help: 'act from so many tokens on; 0 takes the target of the run' }),
    thresholdMessages: integer({ default: 0, help: 'act from so many messages on as well; 0 is off' }),
    keepRecent: integer({ default: 20_000, help: 'tokens of the newest rounds to keep' }),
    keepRounds: integer({
      default: 2,
      min: 1,
      help: 'newest rounds to keep in any case when a model summarises',
    }),
    maxSummary: integer({
      default: 0,
      help: 'tokens that the summary may have; 0: 8000, or for a digest what the target leaves',
    }),
    minGain: number({ default: 0.2, max: 1, help: 'share of the request that must be saved' }),
    instructions: text({ default: '', help: 'what the summary should look after' }),
  },

  create: (options) => ({
    name: 'summarize',
    async compact(conversation, context) {
      const whole = requestTokens(conversation, context.estimator);
      const isDue =
        (options.threshold > 0 ? whole >= options.threshold : whole > context.targetTokens) ||
        (options.thresholdMessages > 0 && conversation.messages.length >= options.thresholdMessages);
      if (!isDue && context.trigger !== 'manual') {
        return notCompacted(
          'skipped',
          'below-threshold',
          `${Math.round(whole)} tokens are no reason to summarise`,
        );
      }
      const source = findSource(conversation, context, options);
      const refusal = refuse(conversation, context, { ...source, whole, minGain: options.minGain });
      return refusal ?? run(conversation, context, { source, options, whole, minGain: options.minGain });
    },
  }),
});

interface SummarizeOptions {
  readonly keepRecent: number;
  readonly keepRounds: number;
  readonly maxSummary: number;
  readonly minGain: number;
  readonly instructions: string;
}

/** What a summary would cover. */
interface Source {
  readonly spans: readonly Span[];
  readonly cut: number;
  readonly covered: readonly Span[];
  /** Tokens of the covered messages, an earlier summary included. */
  readonly tokens: number;
  /** Whether there is anything among them besides an earlier summary. */
  readonly hasNews: boolean;
}

function findSource(conversation: Conversation, context: StrategyContext, options: SummarizeOptions): Source {
  const { messages } = conversation;
  const { estimator, pins } = context;
  const spans = spansOf(messages, pins, askedLimit(conversation, context));
  const cut = tailStart(messages, estimator, tailLimits(conversation, context, { ...options, spans }));
  const covered = spans.filter(({ end, isPinned }) => end <= cut && !isPinned);
  let tokens = 0;
  let hasNews = false;
  for (const { start, end } of covered) {
    for (const message of messages.slice(start, end)) {
      tokens += estimator.countMessage(message);
      hasNews ||= readSummaryMessage(message) === undefined;
    }
  }
  return { spans, cut, covered, tokens, hasNews };
}

/**
 * Whether a text of the user's may stay whole. It does in every automatic run; whoever asks for so small a target that the
 * text would fill a good part of it gets what a digest makes of it, demands verbatim.
 */
function askedLimit(
  { frame }: Conversation,
  { estimator, targetTokens, trigger, summarizer }: StrategyContext,
): (asked: Message) => boolean {
  if (trigger !== 'manual' || summarizer.fillsTarget !== true) return () => true;
  const framed = estimator.countSystem(frame) + estimator.countTools(frame);
  const most = (targetTokens - framed) * ASKED_SHARE;
  return (asked) => estimator.countMessage(asked) <= most;
}

/**
 * What stays of the newest rounds: a quarter of the target at most, two of them in any case. A summarizer that fills its
 * target makes more of a token than they do, so that they get less. The newest stays in any case where the model has not
 * seen it yet: in an automatic run, and while one of its calls is open. Otherwise whoever asks for so small a target that
 * it would fill a quarter of it gets it summarised too.
 */
function tailLimits(
  { frame, messages }: Conversation,
  { estimator, targetTokens, trigger, summarizer }: StrategyContext,
  { spans, keepRecent, keepRounds }: SummarizeOptions & { readonly spans: readonly Span[] },
): TailOptions {
  if (summarizer.fillsTarget !== true)
    return { keepTokens: Math.min(keepRecent, Math.max(2000, targetTokens / 4)), keepRounds };
  const sizeOf = (list: readonly Message[]) =>
    list.reduce((sum, message) => sum + estimator.countMessage(message), 0);
  const framed = estimator.countSystem(frame) + estimator.countTools(frame);
  const pinned = spans.filter(({ isPinned }) => isPinned);
  const stays = pinned.reduce((sum, { start, end }) => sum + sizeOf(messages.slice(start, end)), framed);
  const room = Math.max(0, targetTokens - stays);
  const newest = newestRoundsStart(messages, 1);
  const isKept =
    trigger === 'auto' ||
    sizeOf(messages.slice(newest)) <= room * NEWEST_SHARE ||
    linkTools(messages).unanswered.some(({ message }) => message >= newest);
  return { keepTokens: Math.min(keepRecent, room * TAIL_SHARE), keepRounds: isKept ? 1 : 0 };
}

/** Why not even to begin: told before anything is spent. */
function refuse(
  conversation: Conversation,
  context: StrategyContext,
  { spans, cut, tokens, hasNews, whole, minGain }: Source & { whole: number; minGain: number },
): Outcome | undefined {
  const { estimator, targetTokens, trigger } = context;
  if (!hasNews) return notCompacted('skipped', 'nothing-old', 'there is nothing old enough to summarise');
  const floor = findFloor(conversation, estimator, { spans, cut });
  const smallest = floor.tokens + wrappingTokens(context) + SMALLEST_SUMMARY_TOKENS;
  if (smallest > targetTokens && trigger === 'auto') {
    const message = `${Math.round(floor.tokens)} tokens cannot be summarised away, more than the target of ${Math.round(targetTokens)}; most of it is ${floor.heaviest}`;
    return notCompacted('insufficient', 'floor-exceeds-target', message);
  }
  if (tokens < whole * minGain) {
    const message = `only ${Math.round(tokens)} of ${Math.round(whole)} tokens are old enough to summarise`;
    return notCompacted('insufficient', 'gain-too-small', message);
  }
  return undefined;
}

/** A smaller input is tried so often, each time with so much of the one before. */
const MOST_SHRINKS = 6;
const SHRINK = 0.6;

/**
 * Summarises. What does not fit the window of the summarizer leaves its input at the newest end and stays in the
 * conversation as it is, so that a summary covers what the summarizer was shown and nothing else.
 */
async function run(conversation: Conversation, context: StrategyContext, given: Task): Promise<Outcome> {
  let task = given;
  for (let shrinks = 0; ; shrinks++) {
    const outcome = await runOnce(conversation, context, task);
    if (outcome.status === 'compacted' || outcome.reason !== 'summary-input-too-long') return outcome;
    const source = shrinks < MOST_SHRINKS ? withoutNewest(conversation, context, task.source) : undefined;
    if (source === undefined || context.signal?.aborted === true) return outcome;
    // A part of what could be summarised frees less; it is the only way on.
    task = { ...task, source, minGain: 0 };
  }
}

interface Task {
  readonly source: Source;
  readonly options: SummarizeOptions;
  readonly whole: number;
  readonly minGain: number;
}

/** The source without its newest stretches; undefined when nothing new would be left. */
function withoutNewest(
  { messages }: Conversation,
  { estimator }: StrategyContext,
  source: Source,
): Source | undefined {
  let tokens = 0;
  let hasNews = false;
  const covered: Span[] = [];
  for (const span of source.covered) {
    const stretch = messages.slice(span.start, span.end);
    const size = stretch.reduce((sum, message) => sum + estimator.countMessage(message), 0);
    if (hasNews && tokens + size > source.tokens * SHRINK) break;
    tokens += size;
    hasNews ||= stretch.some((message) => readSummaryMessage(message) === undefined);
    covered.push(span);
  }
  return covered.length === source.covered.length ? undefined : { ...source, covered, tokens };
}

async function runOnce(
  conversation: Conversation,
  context: StrategyContext,
  { source, options, whole, minGain }: Task,
): Promise<Outcome> {
  const covered = readCovered(conversation.messages, source.covered);
  const written = await write(context, covered, {
    messages: covered.messages,
    conversation,
    previousSummary: covered.previousSummary,
    instructions: options.instructions === '' ? undefined : options.instructions,
    maximumTokens: summaryRoom(conversation, context, { source, options }),
    estimator: context.estimator,
    signal: context.signal,
  });
  if (written.status === 'failed') {
    return notCompacted('failed', `summary-${written.reason}`, written.message, written.usage);
  }
  const { text, survival, usage } = written;
  const leaving = source.covered.flatMap(({ start, end }) => conversation.messages.slice(start, end));
  const summary = summaryMessageText(text, undefined, context.handleFor?.(leaving));
  const outcome = finish(conversation, toEdits(source.covered, summary), context, {
    strategy: 'summarize',
    reason: `summarised ${leaving.length} messages`,
    usage,
    survival,
  });
  if (outcome.status !== 'compacted') return outcome;
  const { tokensAfter } = outcome.receipt;
  if (tokensAfter <= whole * (1 - minGain) || tokensAfter <= context.targetTokens) return outcome;
  const message = `the summary would leave ${tokensAfter} of ${Math.round(whole)} tokens`;
  return notCompacted('insufficient', 'gain-too-small', message, usage);
}

/** What a summary may have: what the target leaves to it, and never more than would be worth it. */
function summaryRoom(
  conversation: Conversation,
  context: StrategyContext,
  { source, options }: { source: Source; options: SummarizeOptions },
): number {
  const { estimator, targetTokens, summarizer } = context;
  const gainful = Math.floor(source.tokens * (1 - options.minGain));
  const fillsTarget = summarizer.fillsTarget === true;
  const usual = fillsTarget ? Number.POSITIVE_INFINITY : USUAL_SUMMARY_TOKENS;
  const wanted = Math.min(options.maxSummary > 0 ? options.maxSummary : usual, gainful);
  const { tokens: floor } = findFloor(conversation, estimator, source);
  const left = Math.floor(targetTokens - floor - wrappingTokens(context));
  if (left >= SMALLEST_SUMMARY_TOKENS) return Math.min(wanted, left);
  // The target is out of reach with any summary: a short one helps all the same.
  if (!fillsTarget) return wanted;
  const short = Math.min(1000, Math.floor(source.tokens / 20));
  return Math.min(wanted, Math.max(SMALLEST_SUMMARY_TOKENS, short));
}

/** What stands around a summary in its message. */
function wrappingTokens({ estimator: { countText, profile }, handleFor }: StrategyContext): number {
  const handle = handleFor === undefined ? undefined : EXAMPLE_HANDLE;
  return countText(summaryMessageText('', undefined, handle)) + profile.perMessageTokens;
}

type Written =
  | Extract<SummaryOutcome, { readonly status: 'failed' }>
  | (ToppedUp & { readonly status: 'summarized'; readonly usage: Usage | undefined });

/**
 * A summary with what it lost behind it, together within `maximumTokens` as far as the demands of the user allow. They
 * are paid from the room of the summary: a model, which is paid by the word, is asked once and gets less room from the
 * start; whoever needs no model is asked again with less when it dropped them.
 */
async function write(context: StrategyContext, covered: Covered, request: SummaryRequest): Promise<Written> {
  const { summarizer, estimator } = context;
  const countText = (text: string) => estimator.countText(text);
  const { maximumTokens } = request;
  const within = (tokens: number) => ({
    ...request,
    maximumTokens: Math.max(Math.min(SMALLEST_SUMMARY_TOKENS, maximumTokens), maximumTokens - tokens),
  });
  const areDropped = summarizer.asksModel;
  const asideTokens = Math.min(
    tokensAside(covered, { maximumTokens, countText }, { areDropped }),
    Math.floor(maximumTokens / 2),
  );
  const first = await ask(context, within(asideTokens));
  if (first.status === 'failed') return first;
  const topped = topUp(first.text, covered, { maximumTokens, countText });
  const excess = Math.ceil(countText(topped.text)) - maximumTokens;
  if (excess <= 0 || summarizer.asksModel) return { ...first, ...topped };
  const second = await ask(context, within(asideTokens + excess));
  // What cannot be said shorter is better than nothing: demands may take more than the room.
  return second.status === 'failed'
    ? { ...first, ...topped }
    : {
        ...second,
        ...topUp(second.text, covered, { maximumTokens, countText }),
        usage: addUsage(first.usage, second.usage),
      };
}

/** What the summarizer answers, judged: it may be anybody's, and may throw, say nothing, or say too much. */
async function ask({ summarizer }: StrategyContext, request: SummaryRequest): Promise<SummaryOutcome> {
  try {
    const outcome = await summarizer.summarize(request);
    if (outcome.status === 'failed') return outcome;
    const { usage } = outcome;
    if (outcome.text.trim() === '')
      return { status: 'failed', reason: 'empty', message: 'the summary is empty', usage };
    const tokens = Math.round(request.estimator.countText(outcome.text));
    if (tokens <= request.maximumTokens) return outcome;
    const message = `the summary has ${tokens} tokens, more than the ${request.maximumTokens} it may have`;
    return { status: 'failed', reason: 'too-large', message, usage };
  } catch (error) {
    const reason = request.signal?.aborted === true ? 'aborted' : 'upstream';
    return { status: 'failed', reason, message: `the summarizer failed: ${String(error)}`, usage: undefined };
  }
}

/** The summary stands where the first covered message stood. */
function toEdits(covered: readonly Span[], summary: string): readonly Edit[] {
  return covered.map(
    ({ start, end }, index): Edit =>
      index === 0
        ? { type: 'summarize', start, end, text: summary }
        : { type: 'drop', start, end, isSummarised: true },
  );
}
