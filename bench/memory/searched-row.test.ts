import { describe, expect, test } from 'vitest';
import { brokenRules, stableShare } from '../../src/lab/score.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { cutBetween, said, tool, user } from '../../test/support/example-cut.ts';
import { searchedRow } from './searched-row.ts';

const estimator = createTokenEstimator();
const cut = cutBetween(
  Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0 ? user(`question ${index}`) : said(`answer ${index}`),
  ),
  [],
);

describe('a row without a budget of its own', () => {
  const row = searchedRow({
    name: 'last messages',
    settingsFor: ({ prefix }) => prefix.messages.map((_, index) => index + 1),
    compactAt: async ({ prefix }, count) => prefix.messages.slice(-count),
    countMessages: estimator.countMessages,
  });

  test('gives the largest output within the budget', async () => {
    for (const budget of [20, 50, 90]) {
      const output = await row.compact(cut, budget);
      const larger = cut.prefix.messages.slice(-output.length - 1);
      expect(estimator.countMessages(output)).toBeLessThanOrEqual(budget);
      expect(estimator.countMessages(larger)).toBeGreaterThan(budget);
    }
  });

  test('gives its smallest output where none fits', async () => {
    expect(await row.compact(cut, 1)).toHaveLength(1);
  });
});

describe('the judge', () => {
  const [call, result] = tool('read', {}, 'text');
  const prefix = cutBetween([user('go'), ...tool('read', {}, 'text')], []).prefix;

  test('names the rules that an output breaks and its source did not', () => {
    expect(brokenRules(prefix, prefix.messages)).toEqual([]);
    expect(brokenRules(prefix, [user('go'), ...(result === undefined ? [] : [result])])).not.toEqual([]);
    expect(call).toBeDefined();
  });

  test('tells how much of an output stands unchanged in front', () => {
    const { messages } = prefix;
    expect(stableShare(messages, messages, () => 1)).toBe(1);
    expect(stableShare(messages, [...messages.slice(0, 1), user('new')], () => 1)).toBe(0.5);
    expect(stableShare(messages, [user('new'), ...messages.slice(1)], () => 1)).toBe(0);
  });
});
