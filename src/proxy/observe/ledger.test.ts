import { describe, expect, it } from 'vitest';
import { exchangeRecord } from '../../../test/support/exchange-records.ts';
import type { PriceSet } from '../../compaction/economics/costs.ts';
import { createLedger } from './ledger.ts';

/** In USD per million tokens. */
const prices: PriceSet = {
  prices: { input: 10, output: 0, cacheRead: 1, cacheWrite: 12.5 },
  cache: { writes: 'at-breakpoints', ttlSeconds: [300] },
};
const priced = { pricesFor: () => prices, now: () => 0 };

const sized = (tokens: number, startedAt = 0) =>
  exchangeRecord({
    tokensReceived: tokens,
    tokensSent: tokens,
    startedAt,
    usage: { promptTokens: tokens, outputTokens: 0 },
  });

describe('a ledger', () => {
  it('tells how full a conversation is and when it will be folded at its pace', () => {
    const ledger = createLedger(priced);
    for (const tokens of [100_000, 110_000, 120_000]) ledger.exchange(sized(tokens));

    // 40,000 are left until the trigger, 10,000 come with each turn.
    expect(ledger.conversations()).toMatchObject([
      { turns: 3, folds: 0, tokensSent: 120_000, windowTokens: 200_000, triggerTokens: 160_000, nextFold: 4 },
    ]);
  });

  it('knows its pace right after a fold', () => {
    const ledger = createLedger(priced);
    for (const tokens of [140_000, 150_000, 160_000]) ledger.exchange(sized(tokens));
    ledger.exchange({ ...sized(170_000), tokensSent: 60_000, checkpoint: 'one', status: 'folded' });

    expect(ledger.conversations()[0]?.nextFold).toBe(10);
  });

  it('knows no next fold where nothing grows, nobody may touch the request, or there is no trigger', () => {
    for (const given of [
      {},
      { status: 'passed', reason: 'observing' } as const,
      { triggerTokens: Number.POSITIVE_INFINITY },
    ]) {
      const ledger = createLedger(priced);
      for (const tokens of 'status' in given || 'triggerTokens' in given ? [1000, 2000] : [1000, 1000])
        ledger.exchange({ ...sized(tokens), ...given });

      expect(ledger.conversations()[0]?.nextFold).toBeUndefined();
    }
  });

  it('marks the turn that first goes out with a checkpoint, and no return to one that was known', () => {
    const ledger = createLedger(priced);
    const folded = (checkpoint: string | undefined) =>
      ledger.exchange(
        exchangeRecord({ checkpoint, status: checkpoint === undefined ? 'unchanged' : 'folded' }),
      );
    folded(undefined);
    folded('one');
    folded('one');
    folded('two');
    folded('one');
    folded(undefined);

    const [row] = ledger.conversations();
    const turns = ledger.turns(row?.id ?? '');
    expect(row?.folds).toBe(2);
    expect(turns.map(({ isFold }) => isFold)).toEqual([false, true, false, true, false, false]);
  });

  it('adds up savings and losses apart, so that one does not hide the other', () => {
    const ledger = createLedger(priced);
    ledger.exchange({
      ...sized(100_000),
      usage: { promptTokens: 100_000, outputTokens: 0, cacheWriteTokens: 100_000 },
    });
    const folded = { tokensSent: 40_000, checkpoint: 'one', status: 'folded' } as const;
    // All of the new view is written: 0.5. Direct: 100,000 read at 1 and 10,000 written at 12.5 = 0.225.
    ledger.exchange({
      ...sized(110_000, 1000),
      ...folded,
      usage: { promptTokens: 40_000, outputTokens: 0, cacheWriteTokens: 40_000 },
    });
    // 40,000 read, 10,000 written: 0.165. Direct: 110,000 read, 10,000 written: 0.235.
    ledger.exchange({
      ...sized(120_000, 2000),
      ...folded,
      tokensSent: 50_000,
      usage: { promptTokens: 50_000, outputTokens: 0, cacheReadTokens: 40_000, cacheWriteTokens: 10_000 },
    });

    const money = ledger.money();
    expect(money.sent).toBeCloseTo(1.25 + 0.5 + 0.165, 10);
    expect(money.direct).toBeCloseTo(1.25 + 0.225 + 0.235, 10);
    expect(money.lost).toBeCloseTo(0.275, 10);
    expect(money.saved).toBeCloseTo(0.07, 10);
    expect(money.cacheWrites).toBeCloseTo(1.25 + 0.5 + 0.125, 10);
    expect(money.losses).toMatchObject([{ turn: 2, isFold: true }]);
    expect(money.series).toHaveLength(3);
    expect(ledger.conversations()[0]).toMatchObject({ cacheHitRate: 40_000 / 190_000 });
  });

  it('counts what a model was paid for a summary as sent and lost, in the sums, the conversation and the metrics', () => {
    const ledger = createLedger({
      ...priced,
      pricesFor: (model) => (model === 'unknown' ? undefined : prices),
    });
    ledger.exchange(sized(100_000));
    const { tenant = '', conversation = '' } = exchangeRecord();
    const paid = { type: 'summary-paid', tenant, conversation, model: 'small' } as const;
    ledger.keeperEvent({ ...paid, usage: { promptTokens: 50_000, outputTokens: 1000 } });
    // Another tenant has the same conversation, and one that nobody remembers is paid for all the same.
    ledger.keeperEvent({ ...paid, tenant: 'other', usage: { promptTokens: 10_000, outputTokens: 0 } });
    ledger.keeperEvent({ ...paid, model: 'unknown', usage: { promptTokens: 10_000, outputTokens: 0 } });
    ledger.keeperEvent({ ...paid, model: undefined, usage: { promptTokens: 10_000, outputTokens: 0 } });

    const money = ledger.money();
    // 100,000 of the request, 50,000 and 10,000 of the summaries, at 10 a million.
    expect(money.direct).toBeCloseTo(1, 10);
    expect(money.sent).toBeCloseTo(1.6, 10);
    expect(money.summaries).toBeCloseTo(0.6, 10);
    expect(money.lost).toBeCloseTo(0.6, 10);
    expect(money.unpricedSummaries).toBe(2);
    expect(money.turns).toBe(1);
    expect(ledger.conversations()[0]?.money).toMatchObject({
      summaries: expect.closeTo(0.5, 10) as number,
      unpricedSummaries: 2,
    });
    expect(money.losses).toMatchObject([{ isSummary: true, turn: 1 }, { isSummary: true }]);
    expect(money.byModel.find(({ model }) => model === 'small')?.summaries).toBeCloseTo(0.6, 10);
    const cost = ledger.metrics().find(({ name }) => name === 'roundfold_cost_usd_total');
    expect(cost?.samples.map(({ value }) => value)).toEqual([money.direct, money.sent]);
  });

  it('counts what has no price as such instead of guessing', () => {
    const ledger = createLedger({ now: () => 0 });
    ledger.exchange(exchangeRecord({ model: 'a-model-nobody-knows' }));
    ledger.exchange(exchangeRecord({ usage: undefined }));
    ledger.exchange(exchangeRecord());

    expect(ledger.money()).toMatchObject({ turns: 3, unpricedTurns: 2 });
    expect(ledger.money().sent).toBeGreaterThan(0);
  });

  it('keeps tenants apart that have the same conversation', () => {
    const ledger = createLedger(priced);
    ledger.exchange(exchangeRecord({ tenant: 'one' }));
    ledger.exchange(exchangeRecord({ tenant: 'two' }));

    const rows = ledger.conversations();
    expect(rows.map(({ tenant }) => tenant)).toEqual(['two', 'one']);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
  });

  it('keeps conversations apart that only begin with the same messages', () => {
    const ledger = createLedger(priced);
    const say = (...names: readonly string[]) =>
      ledger.exchange(exchangeRecord({ conversation: names[0], names }));
    say('first');
    say('one-2', 'first');
    say('one-3', 'one-2', 'first');
    say('first');
    say('other-2', 'first');
    say('one-3', 'one-2', 'first');

    expect(ledger.conversations().map(({ turns }) => turns)).toEqual([4, 2]);
  });

  it('knows a conversation again that got its name message by message', () => {
    const ledger = createLedger(priced);
    ledger.exchange(exchangeRecord({ conversation: 'one', names: ['one'] }));
    ledger.exchange(exchangeRecord({ conversation: 'three', names: ['three', 'two', 'one'] }));
    ledger.exchange(exchangeRecord({ conversation: 'four', names: ['four', 'three', 'two', 'one'] }));
    ledger.exchange(exchangeRecord({ conversation: 'other', names: ['other'] }));

    const rows = ledger.conversations();
    expect(rows.map(({ turns }) => turns)).toEqual([1, 3]);
    expect(ledger.place(rows[1]?.id ?? '')?.names).toEqual(['one', 'two', 'three', 'four']);
  });

  it('forgets the conversation that was quiet for longest, and the oldest turns', () => {
    const ledger = createLedger({ ...priced, conversations: 3, turns: 5 });
    for (const conversation of ['a', 'b', 'c', 'a', 'd']) ledger.exchange(exchangeRecord({ conversation }));
    expect(ledger.conversations().map(({ id }) => ledger.place(id)?.names)).toEqual([['d'], ['a'], ['c']]);

    for (let turn = 0; turn < 20; turn++) ledger.exchange(exchangeRecord({ conversation: 'd' }));
    const [row] = ledger.conversations();
    expect(row?.turns).toBe(21);
    expect(ledger.turns(row?.id ?? '').map(({ number }) => number)).toEqual([17, 18, 19, 20, 21]);
  });

  it('has a bound for everything that a request can name', () => {
    const ledger = createLedger({ ...priced, conversations: 10, turns: 10 });
    for (let index = 0; index < 3000; index++) {
      ledger.exchange(
        exchangeRecord({ conversation: `c${index}`, model: `m${index}`, client: 'x'.repeat(5000) }),
      );
      ledger.windowLearnt(`m${index}`, 1000);
    }

    const { byModel, series } = ledger.money();
    expect(byModel.length).toBeLessThanOrEqual(31);
    expect(series.length).toBeLessThanOrEqual(1000);
    expect(series.at(-1)?.sent).toBe(ledger.money().sent);
    expect(ledger.health().windows).toHaveLength(50);
    expect(JSON.stringify(ledger.conversations()).length).toBeLessThan(20_000);
  });

  it('counts passed requests by reason, in words', () => {
    const ledger = createLedger(priced);
    ledger.exchange(exchangeRecord({ status: 'passed', reason: 'no-tenant', tenant: undefined }));
    ledger.exchange(exchangeRecord({ status: 'passed', reason: 'unknown-model' }));
    ledger.exchange(exchangeRecord({ status: 'passed', reason: 'unknown-model' }));

    expect(ledger.health()).toMatchObject({
      requests: 3,
      byStatus: { passed: 3 },
      passed: [
        { reason: 'unknown-model', words: 'the window of its model is not known', count: 2 },
        { reason: 'no-tenant', count: 1 },
      ],
    });
    expect(ledger.conversations()[0]?.explanation).toBe(
      'passed as it came: the window of its model is not known',
    );
  });

  it('shows a pause of compactions until its turns are over or a fold is kept', () => {
    const ledger = createLedger(priced);
    const conversation = 'c'.repeat(64);
    ledger.exchange(exchangeRecord());
    ledger.keeperEvent({ type: 'compaction-paused', reason: 'no-cut', turns: 2, conversation });
    expect(ledger.health()).toMatchObject({ paused: 1, pauseReason: 'no-cut' });
    expect(ledger.conversations()[0]?.trouble).toBe('folds pause for 2 turns (no-cut)');

    ledger.exchange(exchangeRecord({ conversation: 'another' }));
    ledger.exchange(exchangeRecord());
    expect(ledger.health().paused).toBe(1);
    ledger.exchange(exchangeRecord());
    expect(ledger.health().paused).toBe(0);

    ledger.keeperEvent({ type: 'compaction-paused', reason: 'no-cut', turns: 9, conversation });
    ledger.keeperEvent({ type: 'checkpoint-saved', conversation, boundary: 4 });
    expect(ledger.health()).toMatchObject({ paused: 0, compactions: { saved: 1 } });
    expect(ledger.conversations().find(({ turns }) => turns === 3)?.trouble).toBeUndefined();
  });

  it('tells of store failures and learnt windows, and never what an error says', () => {
    const ledger = createLedger(priced);
    const error = new TypeError('password=hunter2');
    ledger.keeperEvent({ type: 'store-failed', operation: 'commit', error });
    ledger.keeperEvent({ type: 'compaction-failed', conversation: 'c'.repeat(64), error });
    ledger.windowLearnt('gpt-x', 32_000);

    expect(ledger.health()).toMatchObject({
      store: { count: 1, last: 'commit: TypeError' },
      windows: [{ model: 'gpt-x', windowTokens: 32_000 }],
      compactions: { failed: 1 },
    });
    expect(JSON.stringify([ledger.health(), ledger.conversations(), ledger.metrics()])).not.toContain(
      'hunter2',
    );
  });

  it('tells listeners which conversation has changed, until they leave', () => {
    const ledger = createLedger(priced);
    const heard: (string | undefined)[] = [];
    const leave = ledger.subscribe((id) => heard.push(id));
    ledger.exchange(exchangeRecord());
    ledger.exchange(exchangeRecord({ kind: 'models', conversation: undefined }));
    leave();
    ledger.exchange(exchangeRecord());

    expect(heard).toEqual([ledger.conversations()[0]?.id, undefined]);
  });
});
