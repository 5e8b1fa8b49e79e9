import { describe, expect, test } from 'vitest';
import { cutBetween, tool, user } from './example-cut.ts';
import { findNeeds } from './needs.ts';
import { scoreMessages, scoreTexts } from './panel.ts';

const line = '  return retryWithBackoff(task);';
const cut = cutBetween(
  [
    user('Never retry twice.'),
    ...tool('read', { path: 'src/retry.ts' }, `the default backoff is baseDelay here\n${line}`),
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
    const score = scoreMessages(needs, cut.prefix.messages);
    for (const { kept, of } of [score.futureReference, score.bound, score.editAnchors, score.constraints]) {
      expect([kept, of]).toEqual([of, kept]);
      expect(of).toBeGreaterThan(0);
    }
    expect(score).toMatchObject({
      changedFiles: { kept: 1, of: 1 },
      rereadTokens: 0,
      missed: { entities: [] },
    });
  });

  test('a bare name is a reference and nothing more', () => {
    const score = scoreTexts(needs, ['baseDelay']);
    expect(score.futureReference.kept).toBe(1);
    expect(score.bound.kept).toBe(0);
  });

  test.each([
    ['the default of baseDelay', true],
    ['default: baseDelay', false],
    ['other words around baseDelay', false],
    ['the default\nof baseDelay', false],
    [`the default ${'.'.repeat(120)} baseDelay`, false],
  ])('%j binds: %s', (text, isBound) => {
    expect(scoreTexts(needs, [text]).bound.kept).toBe(isBound ? 1 : 0);
  });

  test('an anchor has to be there with its indentation', () => {
    expect(scoreTexts(needs, [`12→${line}`]).editAnchors).toEqual({ kept: 1, of: 1 });
    expect(scoreTexts(needs, [line.trim()]).editAnchors.kept).toBe(0);
  });

  test('a missing anchor costs one more reading of its source', () => {
    expect(scoreTexts(needs, []).rereadTokens).toBe(needs.anchors[0]?.sourceTokens);
    expect(scoreTexts(needs, [line]).rereadTokens).toBe(0);
  });

  test('what is missed is told by kind and by where it stood', () => {
    const score = scoreTexts(needs, ['src/retry.ts']);
    expect(score.byKind).toMatchObject({ camel: { kept: 0 }, path: { kept: 1, of: 1 } });
    expect(score.missed.entities.map(({ name }) => name)).toContain('baseDelay');
  });
});
