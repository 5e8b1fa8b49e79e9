import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import { modelSummarizer } from '../../src/memory/model/model.ts';
import { anthropicClient } from '../../src/providers/anthropic.ts';
import type { ReportedUsage } from '../../src/proxy/record.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { findModel } from '../../src/tokens/catalog.ts';
import {
  anthropicWorker,
  chatWorker,
  type Observed,
  type ObservedOptions,
  startObserved,
} from '../support/observed.ts';

const WINDOW = 200_000;
const TURNS = 80;
const running: Observed[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

interface Case {
  readonly client: string;
  readonly worker: typeof chatWorker;
  readonly countTokens?: ObservedOptions['countTokens'];
}

/** The same work of the same client, with folds at a share of the window, and what it cost. */
async function costOfWork({ worker, countTokens }: Case, trigger: number) {
  const observed = await startObserved({ windowTokens: WINDOW, trigger, countTokens });
  running.push(observed);
  const work = worker(observed.proxy.url, 'sk-money');
  for (let turn = 0; turn < TURNS; turn++) {
    await work(1000 + ((turn * 7919) % 9) * 500);
    // A fold is used from the next request on, whenever it was made.
    await observed.proxy.settle();
  }
  const [row] = observed.ledger.conversations();
  const turns = observed.ledger.turns(row?.id ?? '');
  return { money: observed.ledger.money(), folds: row?.folds, turns };
}

describe('what a conversation would have cost without folds', () => {
  it.each<Case>([
    { client: 'with cache markers', worker: anthropicWorker },
    { client: 'with an automatic cache', worker: chatWorker },
    {
      client: 'of a provider that counts in its own way',
      worker: anthropicWorker,
      countTokens: (body) => Math.ceil(JSON.stringify(body).length / 3),
    },
  ])('is, to a twentieth, what the same work really costs without folds: $client', async (given) => {
    const folded = await costOfWork(given, 0.2);
    const direct = await costOfWork(given, 0.95);
    expect(folded.folds).toBeGreaterThan(1);
    expect(direct.folds).toBe(0);
    // Nothing was folded: both sides are the same bill.
    expect(direct.money.direct).toBe(direct.money.sent);
    expect(folded.money.cutTurns).toBe(0);

    expect(folded.money.direct / direct.money.sent).toBeGreaterThan(0.95);
    expect(folded.money.direct / direct.money.sent).toBeLessThan(1.05);
    expect(folded.money.saved - folded.money.lost).toBeCloseTo(folded.money.direct - folded.money.sent, 6);
  });
});

describe('a conversation with folds', () => {
  it.each<Case>([
    { client: 'with cache markers', worker: anthropicWorker },
    { client: 'with an automatic cache', worker: chatWorker },
  ])('costs less than without, and between folds no more misses the cache: $client', async (given) => {
    const folded = await costOfWork(given, 0.2);
    const direct = await costOfWork(given, 0.95);
    expect(folded.money.sent).toBeLessThan(direct.money.sent);
    let compared = 0;
    for (const [index, { checkpoint, usage }] of folded.turns.entries()) {
      const other = direct.turns[index]?.usage;
      if (usage === undefined || other === undefined || index === 0) continue;
      if (checkpoint !== folded.turns[index - 1]?.checkpoint) continue;
      expect(missed(usage)).toBeLessThanOrEqual(missed(other) * 1.05 + 50);
      compared++;
    }
    expect(compared).toBeGreaterThan(TURNS * 0.8);
  });
});

/** Tokens of a prompt that were not in the cache. */
function missed({ promptTokens = 0, cacheReadTokens = 0 }: ReportedUsage): number {
  return promptTokens - cacheReadTokens;
}

describe('what a model is paid for summaries', () => {
  it('is in the bill: every call that its provider has counted, at the price of its model', async () => {
    const prose =
      'Now: the files are being read one by one. Story: so far nothing unusual was found in them.';
    const provider = await startSimulator({ script: () => ({ parts: [{ type: 'text', text: prose }] }) });
    onTestFinished(() => provider.close());
    const model = 'claude-haiku-4-5';
    const client = anthropicClient({ model, apiKey: 'test-key', baseUrl: provider.url });
    const observed = await startObserved({
      windowTokens: 16_000,
      summarizer: modelSummarizer(client, { overflowOf: parseOverflow }),
    });
    running.push(observed);
    const work = anthropicWorker(observed.proxy.url, 'sk-summaries');
    for (let turn = 0; turn < 60; turn++) {
      await work(900);
      await observed.proxy.settle();
    }

    const prices = findModel(model)?.prices;
    const counted = provider.requests.reduce((sum, each) => sum + (each.promptTokens ?? 0), 0);
    const { summaries, unpricedSummaries, sent, direct, saved, lost, byModel } = observed.ledger.money();
    expect(provider.requests.length).toBeGreaterThan(1);
    expect(unpricedSummaries).toBe(0);
    // What was written is a little on top of what was read.
    expect(summaries).toBeGreaterThan((counted * (prices?.input ?? Number.NaN)) / 1e6);
    expect(summaries).toBeLessThan((counted * (prices?.input ?? Number.NaN) * 1.2) / 1e6);
    expect(byModel.find((each) => each.model === model)).toMatchObject({ turns: 0, sent: summaries });
    expect(observed.ledger.conversations()[0]?.money.summaries).toBe(summaries);
    expect(saved - lost).toBeCloseTo(direct - sent, 6);
  });
});
