/** The receipt: what became of every message. */

import type { Conversation } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import type { Survival } from '../../memory/facts/facts.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens, tokensOf } from '../../tokens/measure.ts';
import type { AppliedPlan, Edit, Fate } from './plan.ts';

/** Neighbouring messages of one fate. */
export interface FateRun {
  readonly fate: Fate;
  readonly start: number;
  readonly end: number;
  /** Estimated tokens of these messages before. */
  readonly tokens: number;
  /** Name under which what left can be read again, where it is kept. */
  readonly handle?: string;
}

/** An account of a compaction: every original message is in exactly one run. Plain data. */
export interface Receipt {
  readonly version: 1;
  readonly strategy: string;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Estimated tokens of the whole request, counted on what really goes out. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly runs: readonly FateRun[];
  /** What became of the facts in the messages that a summary stands for; undefined when there is no summary. */
  readonly survival?: readonly Survival[] | undefined;
}

interface ReceiptOptions {
  readonly estimator: TokenEstimator;
  readonly strategy: string;
  readonly survival?: readonly Survival[] | undefined;
  /** Names what left, where it is kept. Without it nothing has a name: one that leads nowhere is worse than none. */
  readonly handleFor?: HandleFor | undefined;
}

/** Accounts for what a plan did. */
export function writeReceipt(
  before: Conversation,
  applied: AppliedPlan,
  { estimator, strategy, survival, handleFor }: ReceiptOptions,
): Receipt {
  return {
    version: 1,
    strategy,
    messagesBefore: before.messages.length,
    messagesAfter: applied.conversation.messages.length,
    tokensBefore: Math.round(requestTokens(before, estimator)),
    tokensAfter: Math.round(requestTokens(applied.conversation, estimator)),
    ...(survival === undefined ? {} : { survival }),
    runs: fateRuns(before.messages, applied.fates, { estimator, handleFor }),
  };
}

function fateRuns(
  messages: readonly Message[],
  fates: readonly Fate[],
  { estimator, handleFor }: Pick<ReceiptOptions, 'estimator' | 'handleFor'>,
): readonly FateRun[] {
  const runs: FateRun[] = [];
  for (let start = 0; start < messages.length; ) {
    const fate = fates[start] ?? 'verbatim';
    let end = start;
    while (end < messages.length && fates[end] === fate) end++;
    const run = messages.slice(start, end);
    const tokens = Math.round(tokensOf(run, estimator));
    const plain = { fate, start, end, tokens };
    const isKept = handleFor !== undefined && fate !== 'verbatim';
    runs.push(isKept ? withHandle(plain, run, handleFor) : plain);
    start = end;
  }
  return runs;
}

/** The handle is worked out when it is read: it is a hash of all that left, and most receipts are never read. */
function withHandle(
  run: Omit<FateRun, 'handle'>,
  messages: readonly Message[],
  handleFor: HandleFor,
): FateRun {
  let handle: string | undefined;
  return {
    ...run,
    get handle() {
      handle ??= handleFor(messages);
      return handle;
    },
  };
}

/** Names messages of the conversation that is compacted. */
export interface HandleFor {
  (messages: readonly Message[]): string;
  /** A message as it is kept under its name: as it was before something made it smaller. Default: as it is. */
  readonly originalOf?: ((message: Message) => Message) | undefined;
}

/** A handle as long as any, to count with. */
export const EXAMPLE_HANDLE = 'rf:0123456789abcdef0123456789abcdef';

/**
 * The same edits, with the name of what they change behind the text they leave, so that it can be read again. The very same
 * where nothing is kept.
 */
export function withHandles(
  edits: readonly Edit[],
  messages: readonly Message[],
  handleFor: HandleFor | undefined,
): readonly Edit[] {
  if (handleFor === undefined) return edits;
  // A name is made from all of a message, and hundreds of edits may change the same one.
  const handles = new Map<Message, string>();
  return edits.map((edit) => {
    const changed = edit.type === 'rewrite' ? messages[edit.message] : undefined;
    if (edit.type !== 'rewrite' || changed === undefined) return edit;
    const handle = handles.get(changed) ?? handleFor([changed]);
    handles.set(changed, handle);
    return { ...edit, text: `${edit.text} ${handle}` };
  });
}
