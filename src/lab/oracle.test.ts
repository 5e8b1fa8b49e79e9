import { describe, expect, test } from 'vitest';
import { cutBetween, tool, user } from '../../test/support/example-cut.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { controlRows } from './controls.ts';
import { scoreNeeds } from './need-score.ts';
import { findNeeds } from './needs.ts';
import { oracleRow } from './oracle.ts';

const estimator = createTokenEstimator();
const filler = Array.from(
  { length: 40 },
  (_, index) => `line ${index} of some report about nothing much at all`,
);
const cut = cutBetween(
  [
    user('Look at the parser.'),
    ...tool('read', { path: 'src/parser.ts' }, [...filler, 'the token table is tokenTable here'].join('\n')),
    ...tool(
      'read',
      { path: 'src/lexer.ts' },
      [...filler, '    const nextToken = lexer.advance();'].join('\n'),
    ),
  ],
  [
    ...tool('grep', { pattern: 'tokenTable' }, ''),
    ...tool('edit', { path: 'src/lexer.ts', old_string: '    const nextToken = lexer.advance();' }, 'ok'),
  ],
);
const needs = findNeeds(cut, new Set());

describe('the oracle', () => {
  const oracle = oracleRow(() => needs, estimator);

  test('meets every need with a small part of the tokens', async () => {
    const output = await oracle.compact(cut, cut.prefixTokens);
    const { names, boundTwoWords, editLines } = scoreNeeds(needs, output);
    for (const { kept, of } of [names, boundTwoWords, editLines]) expect(kept).toBe(of);
    expect(estimator.countMessages(output)).toBeLessThan(cut.prefixTokens / 8);
  });

  test('stays within its budget', async () => {
    for (const budget of [10, 20, 30, 50]) {
      expect(estimator.countMessages(await oracle.compact(cut, budget))).toBeLessThanOrEqual(budget + 6);
    }
  });
});

describe('controls', () => {
  const rows = new Map(controlRows(estimator).map((row) => [row.name, row]));
  const run = async (name: string, share: number) =>
    (await rows.get(name)?.compact(cut, share * cut.prefixTokens)) ?? [];

  test('none is the very same list', async () => {
    expect(await run('none', 0.1)).toBe(cut.prefix.messages);
  });

  test('every other one stays within its budget and does the same again', async () => {
    for (const name of rows.keys()) {
      if (name === 'none') continue;
      const output = await run(name, 0.6);
      expect(estimator.countMessages(output), name).toBeLessThanOrEqual(0.6 * cut.prefixTokens + 10);
      expect(JSON.stringify(await run(name, 0.6)), name).toBe(JSON.stringify(output));
    }
  });

  test('dumped names are all there and mean nothing', async () => {
    const score = scoreNeeds(needs, await run('identifier dump', 1));
    expect(score.names.kept).toBe(score.names.of);
    expect(score.boundTwoWords.kept).toBe(0);
  });

  test('recency keeps the newest lines', async () => {
    const score = scoreNeeds(needs, await run('recency only', 0.3));
    expect(score.editLines.kept).toBe(1);
    expect(score.missed.names.map(({ name }) => name)).toContain('tokenTable');
  });
});
