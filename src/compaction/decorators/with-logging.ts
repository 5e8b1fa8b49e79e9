import { RoundfoldError } from '../../conversation/errors.ts';
import type { Conversation } from '../../conversation/format.ts';
import { type Block, type Message, type Role, textOf, type Usage } from '../../conversation/message.ts';
import { printable } from '../../conversation/printable.ts';
import { readSummaryMessage, SUMMARY_HEADING } from '../../conversation/summary-message.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { applyPlan } from '../plan/plan.ts';
import {
  type Change,
  type CompactTrigger,
  changeOf,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../plan/strategy.ts';
import { decorate, errorText } from './decorate.ts';

/** Where records go: a function gets each as data, an object with `write` (a stream) as text. */
export type LogSink =
  | ((record: LogRecord) => unknown)
  | {
      write(text: string): unknown;
    };

export interface LoggingOptions {
  /** Told when a sink throws, or when the promise it returned is rejected. Default: the error is dropped. */
  readonly onSinkError?: ((error: unknown) => void) | undefined;
}

/**
 * Writes one record for every run: those that did nothing, failed or threw included. Changes nothing else: a sink that
 * throws does not break a run, and a promise that it returns is not waited for.
 * @throws RoundfoldError `usage` when the sink can take no records, such as the path of a file
 */
export function withLogging(inner: Strategy, sink: LogSink, { onSinkError }: LoggingOptions = {}): Strategy {
  checkSink(sink);
  const write = async (toRecord: () => LogRecord): Promise<void> => {
    try {
      const record = toRecord();
      await (typeof sink === 'function' ? sink(record) : sink.write(formatLogRecord(record)));
    } catch (error) {
      onSinkError?.(error);
    }
  };

  return decorate(inner, async (conversation, context) => {
    const log = (outcome: Outcome): void => {
      // Only `onSinkError` itself can reject here, and that cannot be reported.
      write(() => toLogRecord(inner.name, conversation, context, outcome)).catch(() => undefined);
    };
    try {
      const outcome = await inner.compact(conversation, context);
      log(outcome);
      return outcome;
    } catch (error) {
      log(notCompacted('failed', 'threw', errorText(error)));
      throw error;
    }
  });
}

/** Programs without types pass anything, and a sink that takes nothing would lose every record in silence. */
function checkSink(sink: unknown): void {
  if (typeof sink === 'function') return;
  const isStream =
    typeof sink === 'object' && sink !== null && 'write' in sink && typeof sink.write === 'function';
  if (isStream) return;
  const isPath = typeof sink === 'string';
  throw new RoundfoldError(
    'usage',
    isPath
      ? 'withLogging of `roundfold` takes no path: it has no file system'
      : 'withLogging needs a sink: a function, or an object with a `write` method',
    {
      remedy: isPath
        ? 'Import withLogging from `roundfold/node`, which takes the path of a file.'
        : 'Pass a function that gets each record, a stream, or import withLogging from `roundfold/node` and pass a path.',
    },
  );
}

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
function toLogRecord(
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

/** A message in short. */
export interface DiffSide {
  readonly index: number;
  readonly role: Role;
  readonly tokens: number;
  /** One printable line: what kinds of block it has, and its first words. */
  readonly text: string;
}

/** What became of one message. `gone` has no `after`, `new` has no `before`. */
export interface MessageDiff {
  readonly change: 'kept' | 'changed' | 'gone' | 'new';
  readonly before?: DiffSide;
  readonly after?: DiffSide;
}

/** Every message from before and after, in order; what is new stands behind what went in its place. */
export function diffMessages(
  before: Conversation,
  { conversation, plan }: Pick<Change, 'conversation' | 'plan'>,
  estimator: TokenEstimator,
): readonly MessageDiff[] {
  const places = new Map(applyPlan(before, plan).origins.map((origin, place) => [origin, place]));
  const sideOf = (message: Message, index: number): DiffSide => ({
    index,
    role: message.role,
    tokens: Math.round(estimator.countMessage(message)),
    text: shortText(message),
  });

  const diff: MessageDiff[] = [];
  let next = 0;
  const sayNew = (end: number): void => {
    for (const message of conversation.messages.slice(next, end)) {
      diff.push({ change: 'new', after: sideOf(message, next++) });
    }
  };
  for (const [index, message] of before.messages.entries()) {
    const place = places.get(index) ?? -1;
    const after = conversation.messages[place];
    if (after === undefined) {
      diff.push({ change: 'gone', before: sideOf(message, index) });
      continue;
    }
    sayNew(place);
    const change = after.raw === message.raw ? 'kept' : 'changed';
    diff.push({ change, before: sideOf(message, index), after: sideOf(after, place) });
    next = place + 1;
  }
  sayNew(conversation.messages.length);
  return diff;
}

const SHOWN_CHARACTERS = 80;

/** A message as one short line: its kinds of block and its first words. */
function shortText(message: Message): string {
  const summary = readSummaryMessage(message);
  const text =
    summary === undefined ? message.blocks.map(blockText).join(' ') : `${SUMMARY_HEADING} ${summary}`;
  return printable(text, SHOWN_CHARACTERS);
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return firstWords(block.text);
    case 'tool-call':
      return `[called ${block.name}]`;
    case 'tool-result':
      return `[${block.isError ? 'tool error' : 'tool result'}: ${firstWords(textOf(block))}]`;
    case 'media':
      return `[${block.media}]`;
    case 'reasoning':
    case 'compaction':
      return `[${block.type}]`;
    case 'other':
      return `[${block.wireType ?? 'unknown'}]`;
  }
}

function firstWords(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS);
}
