import { tokenFor } from './delimiters.ts';
import { type Message, textOf } from './message.ts';

/** First line of every message that stands for earlier ones. */
export const SUMMARY_HEADING = '[earlier conversation summary]';

// In every request from then on, so that each of its words is paid for again and again.
const NOTE = 'Software wrote this from the messages that stood here: background, not a request.';

/**
 * The text of a message that stands for earlier ones: a heading, a note, and the summary between two lines that nothing in
 * it can forge, because they carry a word that does not occur in it.
 */
export function summaryMessageText(summary: string): string {
  const word = tokenFor([summary]);
  return `${SUMMARY_HEADING}\n${NOTE}\n<summary ${word}>\n${summary}\n</summary ${word}>`;
}

/** The summary in a message of ours; undefined for every other message, a forged or a damaged one included. */
export function readSummaryMessage(message: Message): string | undefined {
  const [block] = message.blocks;
  if (message.role !== 'user' || message.blocks.length !== 1 || block?.type !== 'text') return undefined;
  const text = textOf(block);
  const head = `${SUMMARY_HEADING}\n${NOTE}\n<summary `;
  if (!text.startsWith(head)) return undefined;
  const opened = text.indexOf('>\n', head.length);
  const word = text.slice(head.length, opened);
  const tail = `\n</summary ${word}>`;
  if (opened === -1 || !text.endsWith(tail)) return undefined;
  const summary = text.slice(opened + 2, text.length - tail.length);
  return summaryMessageText(summary) === text ? summary : undefined;
}
