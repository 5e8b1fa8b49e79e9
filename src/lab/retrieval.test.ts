import { describe, expect, test } from 'vitest';
import type { Receipt } from '../compaction/plan/receipt.ts';
import { cutBetween, said, tool, user } from './example-cut.ts';
import { scoreNeeds } from './need-score.ts';
import { findNeeds } from './needs.ts';
import { retrievableFrom } from './retrieval.ts';

const cut = cutBetween(
  [user('look'), ...tool('Read', { file_path: 'a.ts' }, 'tideTable and quayTable'), said('Then berthTable.')],
  [...tool('Grep', { pattern: 'tideTable|berthTable' }, '')],
);
const { messages } = cut.prefix;
const needs = findNeeds(cut, new Set());
const handle = 'rf:00112233445566778899aabbccddeeff';

function receiptWith(start: number, end: number): Receipt {
  const run = {
    fate: 'dropped' as const,
    start,
    end,
    tokens: 9,
    handle,
  };
  return {
    version: 1,
    strategy: 'example',
    messagesBefore: 4,
    messagesAfter: 1,
    tokensBefore: 9,
    tokensAfter: 1,
    runs: [run],
  };
}

function scoreOf(text: string, receipt?: Receipt) {
  const output = [user(text)];
  return scoreNeeds(needs, output, retrievableFrom(messages, output, receipt));
}

describe('recall with handles', () => {
  test('counts a name whose source a handle in the output names', () => {
    const score = scoreOf(`earlier: ${handle}`, receiptWith(1, 3));
    expect(score.names).toEqual({ kept: 0, of: 2 });
    expect(score.namesByHandle).toEqual({ kept: 1, of: 2 });
  });

  test('counts nothing for a receipt whose handles are not in the output, or for a handle of something else', () => {
    expect(scoreOf('nothing', receiptWith(1, 3)).namesByHandle.kept).toBe(0);
    expect(scoreOf('rf:0123456789abcdef', receiptWith(1, 3)).namesByHandle.kept).toBe(0);
  });

  test('is never below plain recall', () => {
    const score = scoreOf(`berthTable ${handle}`, receiptWith(1, 3));
    expect(score.names.kept).toBe(1);
    expect(score.namesByHandle.kept).toBe(2);
  });
});
