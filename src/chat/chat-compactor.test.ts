import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../compaction/plan/strategy.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import { readConversation } from '../formats/registry.ts';
import { memory } from '../memory/summarizer.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { ChatCompactor, RunLog } from './chat-compactor.ts';

const folder = mkdtempSync(join(tmpdir(), 'roundfold-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const idle = notCompacted('skipped', 'short-enough', 'nothing to do');
const strategy: Strategy = { name: 'idle', compact: async () => idle };
const conversation = readConversation([{ role: 'user', content: 'hello' }], 'openai-chat');
const context: StrategyContext = {
  estimator: createTokenEstimator(),
  targetTokens: 1,
  trigger: 'auto',
  pins: {},
  summarizer: memory,
  ownSummarizer: memory,
  bindsReasoning: false,
  signal: undefined,
};

describe('RunLog', () => {
  it.each([
    ['a run', 'short-enough', 1],
    ['a run that failed', 'summary-empty', 1],
    ['a plan that does not pay', 'economics-not-worth-it', 0],
    ['a plan that came to nothing', 'below-trigger', 0],
  ])('has %s (%s) as %i records', async (what, reason, count) => {
    const path = join(folder, what);
    const log = new RunLog(path, () => undefined);
    await log.noting(strategy).compact(conversation, context);
    log.settle(notCompacted('skipped', reason, ''));
    // What was not run leaves no record, and none is written twice.
    log.settle(idle);

    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    expect(lines.length).toBe(count);
  });

  it('tells when it cannot be written', async () => {
    const failures: unknown[] = [];
    const log = new RunLog(join(folder, 'no', 'such', 'folder'), (error) => failures.push(error));
    await log.noting(strategy).compact(conversation, context);
    log.settle(idle);

    expect(failures.length).toBe(1);
  });
});

const MILLION = 1_000_000;
/** A memory that costs as much as a million tokens. */
const dear: Summarizer = {
  ...memory,
  async summarize(request) {
    const outcome = await memory.summarize(request);
    return { ...outcome, usage: { promptTokens: MILLION, outputTokens: 0 } };
  },
};

function compactorOf(
  configured: Strategy = createStrategy('none'),
  summarizer: Summarizer = memory,
): ChatCompactor {
  return new ChatCompactor({
    model: 'claude-sonnet-4-5',
    windowTokens: undefined,
    format: 'anthropic-messages',
    configured,
    summarizer,
    log: undefined,
    dress: (strategy) => strategy,
    patterns: () => [],
    accounts: undefined,
  });
}

function bodyOf(turns: number) {
  const messages = Array.from({ length: turns }, (_one, turn) => [
    { role: 'user', content: `question ${turn}` },
    { role: 'assistant', content: [{ type: 'text', text: `answer ${turn} `.repeat(40) }] },
  ]).flat();
  return { model: 'claude-sonnet-4-5', max_tokens: 100, messages };
}

const summarize = () => createStrategy('summarize', { keepRounds: 2, minGain: 0 });
const paidOf = (compactor: ChatCompactor) => compactor.money?.paid ?? Number.NaN;

describe('ChatCompactor', () => {
  it('a run that is asked for inside of a run is refused, by hand and by itself', async () => {
    const inner: Outcome[] = [];
    const strategy: Strategy = {
      name: 'curious',
      async compact(conversation, context) {
        inner.push(await compactor.run(bodyOf(9), { strategy }, {}), await compactor.runIfDue(bodyOf(9), {}));
        return summarize().compact(conversation, context);
      },
    };
    const compactor = compactorOf();
    const outer = await compactor.run(bodyOf(9), { strategy }, {});

    expect(inner).toMatchObject([{ reason: 'nested' }, { reason: 'nested' }]);
    expect(outer.status).toBe('compacted');
    expect((await compactor.run(bodyOf(9), { strategy: summarize() }, {})).status).toBe('compacted');
  });

  it('summaries by hand are paid at once, and only once', async () => {
    const compactor = compactorOf(createStrategy('none'), dear);
    await compactor.runIfDue(bodyOf(9), { idleSeconds: 0 });
    const before = paidOf(compactor);
    await compactor.run(bodyOf(9), { strategy: summarize() }, {});
    const price = paidOf(compactor) - before;
    expect(price).toBeGreaterThan(1);
    expect(compactor.money?.saved).toBeLessThan(-1);

    await compactor.runIfDue(bodyOf(10), { idleSeconds: 0 });
    expect(paidOf(compactor)).toBeGreaterThan(before + price);
    expect(paidOf(compactor)).toBeLessThan(before + price * 1.1);
  });

  it('a trial is paid too, and stays paid with another model or on another day', async () => {
    const compactor = compactorOf(createStrategy('none'), dear);
    await compactor.tryOut(bodyOf(9), { strategy: summarize() }, {});
    const price = paidOf(compactor);
    expect(price).toBeGreaterThan(1);

    await compactor.run(bodyOf(9), { strategy: summarize() }, {});
    expect(compactor.accounts.aside).toBeCloseTo(2 * price);
    expect(compactor.accounts.state.compactionCount).toBe(1);
  });

  it('runs by itself when the strategy says that it is due, although the window has room', async () => {
    const options = { keepRounds: 2, minGain: 0 };
    const outcomeFrom = (thresholdMessages: number) =>
      compactorOf(createStrategy('summarize', { ...options, thresholdMessages })).runIfDue(bodyOf(9), {});

    expect((await outcomeFrom(18)).status).toBe('compacted');
    expect((await outcomeFrom(19)).reason).toBe('below-trigger');
  });
});
