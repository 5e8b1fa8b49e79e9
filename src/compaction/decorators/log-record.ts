import type { Conversation } from '../../conversation/format.ts';
import type { Usage } from '../../conversation/message.ts';
import { printable } from '../../conversation/printable.ts';
import { requestTokens } from '../plan/receipt.ts';
import { type CompactTrigger, changeOf, type Outcome, type StrategyContext } from '../plan/strategy.ts';
import { type DiffSide, diffMessages, type MessageDiff } from './message-diff.ts';

/** An account of one run. Plain data without a time: the same run gives the same record. */
export interface LogRecord {
  readonly version: 1;
  readonly strategy: string;
  readonly trigger: CompactTrigger;
  readonly status: Outcome['status'];
  readonly reason: string;
  /** What is the matter, for people; undefined for a compaction. */
  readonly message: string | undefined;
  readonly targetTokens: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly usage: Usage | undefined;
  /** Every message and what became of it; empty when nothing was changed. */
  readonly diff: readonly MessageDiff[];
}

/** The account of a run that ended with this outcome. */
export function toLogRecord(
  strategy: string,
  conversation: Conversation,
  context: StrategyContext,
  outcome: Outcome,
): LogRecord {
  const { status, reason, usage } = outcome;
  const tokens = Math.round(requestTokens(conversation, context.estimator));
  const messages = conversation.messages.length;
  const change = changeOf(outcome);
  return {
    version: 1,
    strategy,
    trigger: context.trigger,
    status,
    reason,
    message: outcome.status === 'compacted' ? undefined : outcome.message,
    targetTokens: Math.round(context.targetTokens),
    tokensBefore: change?.receipt.tokensBefore ?? tokens,
    tokensAfter: change?.receipt.tokensAfter ?? tokens,
    messagesBefore: messages,
    messagesAfter: change?.conversation.messages.length ?? messages,
    usage,
    diff: change === undefined ? [] : diffMessages(conversation, change, context.estimator),
  };
}

const SEPARATOR = '='.repeat(72);
const MARKS = { kept: ' ', changed: '~', gone: '-', new: '+' } as const;

/**
 * The record as a block of text that ends in a line break: what was run and what came of it, then the messages BEFORE
 * and AFTER, one line each. `-` is gone, `~` was changed, `+` is new. Two logs can be compared line by line.
 */
export function formatLogRecord(record: LogRecord): string {
  const { strategy, trigger, status, reason, message, usage, diff } = record;
  const lines = [
    SEPARATOR,
    `${strategy} (${trigger}): ${status}, ${printable(reason)}`,
    ...(message === undefined ? [] : [printable(message, 1000)]),
    `tokens ${record.tokensBefore} -> ${record.tokensAfter}, target ${record.targetTokens}`,
    ...(usage === undefined ? [] : [`spent ${usage.promptTokens} in, ${usage.outputTokens} out`]),
    ...sideLines(`BEFORE (${record.messagesBefore})`, diff, 'before'),
    ...sideLines(`AFTER (${record.messagesAfter})`, diff, 'after'),
  ];
  return `${lines.join('\n')}\n`;
}

function sideLines(
  heading: string,
  diff: readonly MessageDiff[],
  name: 'before' | 'after',
): readonly string[] {
  if (diff.length === 0) return name === 'before' ? [heading] : [`${heading} unchanged`];
  const lines = diff.flatMap((entry) => {
    const side = entry[name];
    return side === undefined ? [] : [`${MARKS[entry.change]} ${sideText(side)}`];
  });
  return [heading, ...lines];
}

function sideText({ index, role, tokens, text }: DiffSide): string {
  return `${index} ${role} (${tokens}): ${text}`;
}
