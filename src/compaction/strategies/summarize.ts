import type { Conversation } from '../../conversation/format.ts';
import { addUsage, type Message, type Usage } from '../../conversation/message.ts';
import { integer, number, text } from '../../conversation/options.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import { MARKER_SOURCE } from '../../memory/markers.ts';
import { firstPages } from '../../memory/pages.ts';
import type { SummaryArchive, SummaryFailure } from '../../memory/summary-request.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { findFloor } from '../plan/layout.ts';
import { EXAMPLE_HANDLE } from '../plan/receipt.ts';
import {
  defineStrategy,
  finish,
  judgeTarget,
  notCompacted,
  type Outcome,
  type StrategyContext,
} from '../plan/strategy.ts';
import {
  coverageOf,
  findSource,
  SMALLEST_SUMMARY_TOKENS,
  type Source,
  smallerInput,
  summaryEdits,
  writeSummaryOf,
} from './summary.ts';

/**
 * What a summary may have in any case of what pinned messages and instructions leave, even if the current turn fills it. With
 * a tail of at most half of it, the target is met all the same.
 */
const LEAST_SUMMARY_SHARE = 0.45;
/** How often a summary is tried again with a smaller input. */
const MOST_RETRIES = 3;

/** Replaces older rounds by a summary. What is pinned and the newest rounds stay as they are. */
export const summarize = defineStrategy({
  name: 'summarize',
  summary: 'replace older rounds by a summary, keep the newest ones',
  options: {
    thresholdTokens: integer({ default: 0, help: 'act from so many tokens on; 0: when the run is due' }),
    thresholdMessages: integer({ default: 0, help: 'act from so many messages on as well; 0 is off' }),
    keepRecentTokens: integer({
      default: 0,
      help: 'tokens of the newest rounds to keep; 0: a fifth of the target, 2,000 to 60,000',
    }),
    keepRecentMessages: integer({
      default: 0,
      help: 'newest messages to keep; 0: 10, as far as they take no more than two fifths of the target',
    }),
    keepRounds: integer({
      default: 0,
      help: 'newest rounds to keep; 0: 2, as far as they take no more than two fifths of the target',
    }),
    maxSummaryTokens: integer({
      default: 0,
      help: 'tokens that the summary may have; 0: what the target leaves',
    }),
    minGain: number({ default: 0.2, max: 1, help: 'share of the request that must be saved' }),
    instructions: text({ default: '', help: 'what the summary should look after' }),
  },

  create: (options) => ({
    name: 'summarize',
    isDue: (conversation, { estimator }) =>
      isOverThreshold(options, conversation.messages.length, () => requestTokens(conversation, estimator)),
    async compact(conversation, context) {
      const whole = requestTokens(conversation, context.estimator);
      if (!isDue(options, conversation.messages.length, whole, context)) {
        const message = `${Math.round(whole)} tokens are no reason to summarise`;
        return notCompacted('skipped', 'below-threshold', message);
      }
      const source = findSource(conversation, context, options);
      const { heaviest } = findFloor(conversation, context.estimator, source.layout);
      const refusal = refuse(source, { whole, minGain: options.minGain, heaviest });
      const outcome = refusal ?? (await run(conversation, context, { source, options, whole }));
      return judgeTarget(outcome, context.targetTokens, heaviest);
    },
  }),
});

interface SummarizeOptions {
  readonly thresholdTokens: number;
  readonly thresholdMessages: number;
  readonly maxSummaryTokens: number;
  readonly minGain: number;
  readonly instructions: string;
}

function isOverThreshold(
  { thresholdTokens, thresholdMessages }: SummarizeOptions,
  messages: number,
  tokens: () => number,
): boolean {
  return (
    (thresholdMessages > 0 && messages >= thresholdMessages) ||
    (thresholdTokens > 0 && tokens() >= thresholdTokens)
  );
}

/** A run by hand, or for a full window, is always due. Thresholds of its own count where they are set, else the target does. */
function isDue(
  options: SummarizeOptions,
  messages: number,
  tokens: number,
  { trigger, targetTokens, isWindowFull }: StrategyContext,
): boolean {
  if (trigger === 'manual' || isWindowFull === true) return true;
  const hasOwn = options.thresholdTokens > 0 || options.thresholdMessages > 0;
  return hasOwn ? isOverThreshold(options, messages, () => tokens) : tokens > targetTokens;
}

/** Why not even to begin: told before anything is spent. */
function refuse(
  { tokens, hasNews }: Source,
  {
    whole,
    minGain,
    heaviest,
  }: { readonly whole: number; readonly minGain: number; readonly heaviest: string },
): Outcome | undefined {
  if (!hasNews) return notCompacted('skipped', 'nothing-old', 'there is nothing old enough to summarise');
  if (tokens >= whole * minGain) return undefined;
  const message = `only ${Math.round(tokens)} of ${Math.round(whole)} tokens are old enough to summarise; most of the rest is ${heaviest}`;
  return notCompacted('insufficient', 'gain-too-small', message);
}

interface Task {
  readonly source: Source;
  readonly options: SummarizeOptions;
  readonly whole: number;
}

/** Summarises. An input that is too long for the summarizer is tried again with less, by what the refusal says. */
async function run(conversation: Conversation, context: StrategyContext, task: Task): Promise<Outcome> {
  let { source } = task;
  let usage: Usage | undefined;
  for (let attempt = 1; ; attempt++) {
    const { overflow, ...outcome } = await runOnce(conversation, context, { ...task, source });
    usage = addUsage(usage, outcome.usage);
    const isTooLong = outcome.status === 'failed' && outcome.reason === TOO_LONG;
    if (!isTooLong || attempt > MOST_RETRIES || context.signal?.aborted === true)
      return { ...outcome, usage };
    const smaller = smallerInput(conversation, context, {
      source,
      overflow,
      attempt,
      summaryTokens: summaryRoom(conversation, context, { ...task, source }),
    });
    if (smaller === undefined) return { ...outcome, usage };
    source = smaller;
  }
}

/** Of what it stands for: a summary that leaves nothing out saves nothing, however much room there is. */
const LARGEST_SUMMARY_SHARE = 0.8;
const TOO_LONG = 'summary-input-too-long';
/** Nothing went wrong when our own summary has these: what is old is too little to be said in fewer words. */
const SIZE_REASONS: ReadonlySet<SummaryFailure> = new Set(['empty', 'too-large', 'not-smaller']);

async function runOnce(
  conversation: Conversation,
  context: StrategyContext,
  { source, options, whole }: Task,
): Promise<Outcome & { readonly overflow?: OverflowFacts | undefined }> {
  const { layout } = source;
  const { leaving, covered, handle, request } = coverageOf(conversation, context, layout);
  const room = summaryRoom(conversation, context, { source, options });
  const written = await writeSummaryOf(context.summarizer, covered, {
    ...request,
    archive: archiveOf(leaving, handle, context.handleFor?.originalOf),
    instructions: options.instructions === '' ? undefined : options.instructions,
    maximumTokens: Math.max(SMALLEST_SUMMARY_TOKENS, Math.min(room, source.tokens * LARGEST_SUMMARY_SHARE)),
    pause: context.pause,
    shown: source.input,
  });
  if (written.status === 'failed') {
    const { reason, message, usage, overflow } = written;
    const isOurs = context.summarizer.name === context.ownSummarizer.name;
    const status = isOurs && SIZE_REASONS.has(reason) ? 'insufficient' : 'failed';
    return { ...notCompacted(status, `summary-${reason}`, message, usage), overflow };
  }
  const edits = summaryEdits(conversation.messages, layout, { text: written.text, handle });
  const outcome = finish(conversation, edits, context, {
    strategy: 'summarize',
    reason: `summarised ${leaving.length} messages`,
    usage: written.usage,
    survival: written.survival,
  });
  return outcome.status === 'compacted'
    ? judgeGain(outcome, context, { whole, minGain: options.minGain })
    : outcome;
}

/** Pages are those of the messages as they are kept, which may be longer than they are here. */
function archiveOf(
  leaving: readonly Message[],
  handle: string | undefined,
  originalOf: (message: Message) => Message = (message) => message,
): SummaryArchive | undefined {
  if (handle === undefined) return undefined;
  const numbers = firstPages(leaving.map(originalOf));
  const pages = new Map(leaving.map((message, index) => [message, numbers[index]]));
  return { handle, pageOf: (message) => pages.get(message) };
}

function judgeGain(
  outcome: Extract<Outcome, { status: 'compacted' }>,
  { targetTokens }: StrategyContext,
  { whole, minGain }: { readonly whole: number; readonly minGain: number },
): Outcome {
  const { tokensAfter } = outcome.receipt;
  if (tokensAfter <= whole * (1 - minGain) || tokensAfter <= targetTokens) return outcome;
  const message = `the summary would leave ${tokensAfter} of ${Math.round(whole)} tokens`;
  return notCompacted('insufficient', 'gain-too-small', message, outcome.usage);
}

/** What a summary may have: what the target leaves to it, and never more than would be worth it. */
function summaryRoom(
  conversation: Conversation,
  context: StrategyContext,
  { source, options }: Pick<Task, 'source' | 'options'>,
): number {
  const { estimator, targetTokens } = context;
  const gainful = Math.floor(source.tokens * (1 - options.minGain));
  const wanted = options.maxSummaryTokens > 0 ? Math.min(options.maxSummaryTokens, gainful) : gainful;
  const { tokens: floor, tailTokens } = findFloor(conversation, estimator, source.layout);
  const left = targetTokens - floor - wrappingTokens(context);
  // Where the current turn nearly fills the target, the past is told all the same: forgetting it would cost more.
  const due = (left + tailTokens) * LEAST_SUMMARY_SHARE;
  return Math.floor(Math.min(wanted, Math.max(left, due, SMALLEST_SUMMARY_TOKENS)));
}

/** What stands around a summary in its message. */
function wrappingTokens({ estimator: { countText, profile }, handleFor }: StrategyContext): number {
  const handle = handleFor === undefined ? undefined : EXAMPLE_HANDLE;
  const marker = { coveredUntil: 99_999, source: MARKER_SOURCE };
  return countText(summaryMessageText('', marker, handle)) + profile.perMessageTokens;
}
