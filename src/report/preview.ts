import type { Conversation } from '../core/format.ts';
import { isUserText, type Message, textOf } from '../core/message.ts';
import { printable } from '../core/printable.ts';
import type { Compacted } from '../core/strategy.ts';
import { countOf, formatCount } from './terminal.ts';

const MARKS = { verbatim: ' ', reduced: '~', summarised: '-', dropped: '-' } as const;

/** Runs of messages that stay are told in one line from this length on. */
const SHOWN_RUN = 3;

/** What a compaction would do, message by message: `-` leaves, `~` is made smaller, `+` is new. */
export function previewText(
  before: Conversation,
  { conversation, receipt }: Compacted,
  columns = 100,
): string {
  const old = new Set(before.messages.map(({ raw }) => raw));
  // What was only made smaller stands among the old messages already.
  const made = conversation.messages.filter((message) => !old.has(message.raw) && isUserText(message));
  const lines = receipt.runs.flatMap(({ fate, start, end }) => {
    const run = before.messages.slice(start, end);
    if (fate === 'verbatim' && run.length > SHOWN_RUN)
      return [`  … ${countOf(run.length, 'message')} as before`];
    return run.map((message, index) => `${MARKS[fate]} ${lineOf(message, start + index, columns)}`);
  });
  const added = made.map((message) => `+ ${lineOf(message, undefined, columns)}`);
  const { tokensBefore, tokensAfter, messagesBefore, messagesAfter } = receipt;
  const total = `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens, ${messagesBefore} → ${messagesAfter} messages`;
  return `${[...lines, ...added, total].join('\n')}\n`;
}

function lineOf({ role, blocks }: Message, index: number | undefined, columns: number): string {
  const what = blocks.map((block) =>
    block.type === 'tool-call' ? `called ${block.name}` : textOf(block) || block.type,
  );
  const head = `${index === undefined ? '' : `${index} `}${role}: `;
  return `${head}${printable(what.join(' · '), Math.max(20, columns - head.length - 2))}`;
}
