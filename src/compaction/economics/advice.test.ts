import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { findModel } from '../../tokens/catalog.ts';
import { promptLimitTokens } from '../../tokens/thresholds.ts';
import { adviseCompaction, type CompactionQuestion, explainAdvice } from './advice.ts';
import { type PriceSet, priceSetOf } from './costs.ts';
import { emptyLedger, savedSoFar, settleTurn } from './ledger.ts';

const opus = priceSetOf(findModel('claude-opus-5-5') ?? {}) ?? { prices: { input: 0, output: 0 } };
const gpt = priceSetOf(findModel('gpt-6.1-sol') ?? {}) ?? opus;
const saved = { ...emptyLedger, noneCost: 10, actualCost: 9 };

/** Half of 100,000 tokens would go, in the middle of a task, while the cache is warm. */
const question: CompactionQuestion = {
  prices: opus,
  tokensBefore: 20_000,
  tokensBehind: 80_000,
  tokensBehindAfter: 30_000,
  reusableTokens: 20_000,
  idleSeconds: 20,
  tokensPerTurn: 1000,
  windowTokens: 200_000,
  turnsSoFar: 120,
};

const cases: readonly (readonly [string, Partial<CompactionQuestion>, string, RegExp])[] = [
  ['a full window', { windowTokens: 100_000 }, 'compact-now window-full', /does not fit the window/],
  ['an expired cache', { idleSeconds: 301 }, 'compact-now cache-expired', /has expired/],
  [
    'a price step ahead of it',
    { prices: gpt, tokensBehind: 260_000, tokensBehindAfter: 20_000, windowTokens: 0 },
    'compact-now price-step',
    /below the price step/,
  ],
  [
    'next to nothing left',
    { tokensBehindAfter: 1500 },
    'compact-now cheaper-at-once',
    /costs less than reading/,
  ],
  [
    'savings to spend',
    { ledger: saved },
    'compact-now paid-from-savings',
    /\$1\.00 that compactions have saved/,
  ],
  [
    'something to stake',
    { ledger: { ...saved, actualCost: 10 }, stakeShare: 0.05 },
    'compact-now worth-the-stake',
    /\$0\.5 that may be staked/,
  ],
  ['little to remove', { tokensBehindAfter: 75_000 }, 'wait batch-too-small', /too little would go/],
  [
    'too little for the steps of the cache',
    { prices: gpt, tokensBefore: 5000, tokensBehind: 20_000, tokensBehindAfter: 15_000, idleSeconds: 9000 },
    'wait cache-minimum',
    /cached reads could be lost/,
  ],
  ['few turns ahead', { ledger: saved, turnsSoFar: 10 }, 'wait pays-too-late', /too late/],
  ['a task under way', { ledger: saved, turnsSoFar: 70 }, 'wait mid-task', /next text of the user/],
  [
    'the end of a task',
    { ledger: saved, turnsSoFar: 70, isTaskBoundary: true },
    'compact-now paid-from-savings',
    /pay/,
  ],
  ['nothing saved yet', {}, 'wait not-covered', /nothing has been saved so far/],
  [
    'too little saved',
    { ledger: { ...saved, actualCost: 9.99 } },
    'wait not-covered',
    /only \$0\.01 has been saved/,
  ],
  [
    'nothing to remove',
    { tokensBehindAfter: 80_000 },
    'never saves-nothing',
    /^Do not compact: nothing would become smaller\.$/,
  ],
  [
    'a summary that costs a fortune',
    { summaryCall: { promptTokens: 9_000_000, cachedTokens: 0 } },
    'never never-pays',
    /more than later turns can save/,
  ],
];

describe('the advice', () => {
  it.each(cases)('for %s', (_, change, expected, words) => {
    const advice = adviseCompaction(deepFreeze({ ...question, ...change }));

    expect(`${advice.verdict} ${advice.reason}`).toBe(expected);
    expect(explainAdvice(advice)).toMatch(words);
    expect(explainAdvice(advice)).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('covers every reason there is', () => {
    expect(new Set(cases.map(([, , expected]) => expected)).size).toBe(13);
  });

  it('says what it costs and when it has paid', () => {
    expect(explainAdvice(adviseCompaction({ ...question, ledger: saved }))).toBe(
      'Compact now: it will probably pay, and costs no more than the $1.00 that compactions have saved so far. ' +
        'From 100k to 50k tokens, the next request costs $0.15 instead of $0.025. ' +
        'Each turn after that saves $0.01 or more, so it has paid after 13 turns; about 120 more are expected.',
    );
  });

  it('leaves a tenth of the window for the answer, at most 20,000 tokens', () => {
    expect([60_000, 1_000_000, 0].map((window) => promptLimitTokens(window))).toEqual([
      54_000,
      980_000,
      Number.POSITIVE_INFINITY,
    ]);
  });
});

describe('the ledger', () => {
  const plain: PriceSet = { prices: { input: 1, output: 0 } };
  const turn = (promptTokens: number) => ({ prices: plain, promptTokens, idleSeconds: 1 });
  const compaction = { removedTokens: 600, reusableTokens: 0 };

  it('saves what was removed, in every request', () => {
    const first = settleTurn(emptyLedger, turn(1000));
    const second = settleTurn(first, { ...turn(500), compaction });
    const third = settleTurn(second, turn(700));

    expect([first, second, third].map((ledger) => Math.round(savedSoFar(ledger) * 1e6))).toEqual([
      0, 600, 1200,
    ]);
    expect(third).toMatchObject({ actualTokens: 700, noneTokens: 1300 });
  });

  it('saves nothing any more where no compaction would not have fitted', () => {
    const first = settleTurn(emptyLedger, turn(1000));
    const second = settleTurn(first, { ...turn(500), compaction, limitTokens: 1050 });
    const third = settleTurn(second, { ...turn(700), limitTokens: 1050 });

    expect(savedSoFar(third)).toBe(0);
    expect(third).toMatchObject({ actualTokens: 700, noneTokens: 700 });
  });

  it('pays for summaries', () => {
    const first = settleTurn(emptyLedger, turn(1000));
    const second = settleTurn(first, { ...turn(500), compaction: { ...compaction, summaryCost: 1 } });

    expect(savedSoFar(second)).toBeCloseTo(600e-6 - 1, 9);
  });
});
