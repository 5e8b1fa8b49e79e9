import { expect, test } from 'vitest';
import type { Message } from '../../src/conversation/message.ts';
import type { Row } from '../../src/lab/row.ts';
import { cutBetween, tool, user } from '../../test/support/example-cut.ts';
import { chainedRow } from './chain.ts';

const rounds = Array.from({ length: 30 }, (_, index) =>
  tool('Read', { path: `file_${index}.ts` }, `text ${index}`),
).flat();
const cut = cutBetween([user('Start.'), ...rounds], []);
/** Each message is one token. */
const countMessages = (messages: readonly Message[]) => messages.length;

/** Keeps the newest messages, and notes what it was given. */
function newest(seen: (readonly Message[])[]): Row {
  return {
    name: 'newest',
    async compact({ prefix, prefixTokens }, budgetTokens) {
      expect(prefixTokens).toBe(prefix.messages.length);
      seen.push(prefix.messages);
      return prefix.messages.slice(-budgetTokens);
    },
  };
}

test('each compaction of a chain has what the last one left and what came since, to the same tokens', async () => {
  const seen: (readonly Message[])[] = [];
  const row = chainedRow(newest(seen), 5, countMessages);
  const output = await row.compact(cut, 11);

  expect(row.name).toBe('newest, 5 compactions');
  expect(seen).toHaveLength(5);
  for (const [index, messages] of seen.entries()) {
    expect(messages.length).toBeGreaterThan(11);
    if (index > 0) expect(messages.slice(0, 11)).toEqual(seen[index - 1]?.slice(-11));
  }
  expect(output).toEqual(cut.prefix.messages.slice(-11));
});

test('every compaction happens where a request was sent: with nothing left to answer by a tool', async () => {
  const seen: (readonly Message[])[] = [];
  await chainedRow(newest(seen), 4, countMessages).compact(cut, 11);
  for (const messages of seen) expect(messages.at(-1)?.role).toBe('user');
});

test('there are fewer where the session has not so many places', async () => {
  const seen: (readonly Message[])[] = [];
  const short = cutBetween([user('Start.'), ...rounds.slice(0, 4)], []);
  await chainedRow(newest(seen), 10, countMessages).compact(short, 1);
  expect(seen.length).toBeLessThanOrEqual(2);
  expect(seen.at(-1)?.at(-1)?.raw).toBe(short.prefix.messages.at(-1)?.raw);
});
