import { describe, expect, test } from 'vitest';
import { cutBetween, said, tool, user } from '../../test/support/example-cut.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';
import { retrievableFrom, scoreNeeds, scoreTexts } from './need-score.ts';
import { findNeeds } from './needs.ts';

const line = '  return retryWithBackoff(task);';
const cut = cutBetween(
  [
    user('Never retry twice.'),
    ...tool(
      'read',
      { path: 'src/retry.ts' },
      `the default backoff seconds come from baseDelay here\n${line}`,
    ),
    ...tool('edit', { file_path: 'src/retry.ts', old_string: 'a', new_string: 'b' }, 'ok'),
  ],
  [
    ...tool('grep', { pattern: 'baseDelay' }, 'nothing'),
    ...tool('edit', { file_path: 'src/retry.ts', old_string: line, new_string: 'x' }, 'ok'),
  ],
);
const needs = findNeeds(cut, new Set());

describe('scoring an output', () => {
  test('nothing done keeps everything', () => {
    const score = scoreNeeds(needs, cut.prefix.messages);
    for (const { kept, of } of [
      score.names,
      score.boundTwoWords,
      score.boundFourWordsOrLine,
      score.editLines,
      score.demands,
    ]) {
      expect([kept, of]).toEqual([of, kept]);
      expect(of).toBeGreaterThan(0);
    }
    expect(score).toMatchObject({
      changedFiles: { kept: 1, of: 1 },
      tokensToReadAgain: 0,
      missed: { names: [] },
    });
  });

  test('a bare name is a reference and nothing more', () => {
    const score = scoreTexts(needs, ['baseDelay']);
    expect(score.names.kept).toBe(1);
    expect(score.boundTwoWords.kept).toBe(0);
    expect(score.boundFourWordsOrLine.kept).toBe(0);
  });

  test.each([
    ['default backoff of baseDelay', true],
    ['the default of baseDelay', false],
    ['default: baseDelay', false],
    ['other words around baseDelay', false],
    ['default backoff\nof baseDelay', false],
    [`default backoff ${'.'.repeat(120)} baseDelay`, false],
  ])('%j binds by two words: %s', (text, isBound) => {
    expect(scoreTexts(needs, [text]).boundTwoWords.kept).toBe(isBound ? 1 : 0);
  });

  test.each([
    ['the default backoff seconds come from baseDelay here', true],
    ['   7→the default backoff seconds come from baseDelay here', true],
    ['they said: the default backoff seconds come from baseDelay here, and left', true],
    ['seconds of default backoff: from baseDelay', true],
    ['default backoff of baseDelay', false],
    ['the default backoff seconds come from\nbaseDelay here', false],
  ])('%j binds by four words or a line: %s', (text, isBound) => {
    expect(scoreTexts(needs, [text]).boundFourWordsOrLine.kept).toBe(isBound ? 1 : 0);
  });

  test('an edit line has to be there with its indentation', () => {
    expect(scoreTexts(needs, [`12→${line}`]).editLines).toEqual({ kept: 1, of: 1 });
    expect(scoreTexts(needs, [line.trim()]).editLines.kept).toBe(0);
  });

  test('a missing edit line costs one more reading of its source', () => {
    expect(scoreTexts(needs, []).tokensToReadAgain).toBe(needs.editLines[0]?.sourceTokens);
    expect(scoreTexts(needs, [line]).tokensToReadAgain).toBe(0);
  });

  test('what is missed is told', () => {
    const { missed } = scoreTexts(needs, ['src/retry.ts']);
    expect(missed.names.map(({ name }) => name)).toEqual(['baseDelay', 'retryWithBackoff']);
    expect(missed.editLines.map((need) => need.line)).toEqual([line]);
    expect(missed.demands).toEqual(['Never retry twice.']);
    expect(missed.changedFiles).toEqual([]);
  });
});

const left = cutBetween(
  [user('look'), ...tool('Read', { file_path: 'a.ts' }, 'tideTable and quayTable'), said('Then berthTable.')],
  [...tool('Grep', { pattern: 'tideTable|berthTable' }, '')],
);
const { messages } = left.prefix;
const leftNeeds = findNeeds(left, new Set());
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
  return scoreNeeds(leftNeeds, output, retrievableFrom(messages, output, receipt));
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
