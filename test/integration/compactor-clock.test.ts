import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compaction/compactor.ts';
import { priceSetOf } from '../../src/compaction/economics/costs.ts';
import type { CompactionEvent, CompactorOptions } from '../../src/compaction/options.ts';
import { findModel } from '../../src/tokens/catalog.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { session } from '../support/probing-session.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const prices = priceSetOf(findModel('claude-sonnet-5-5') ?? {});

/** A compactor with a clock of its own, in a window that the conversation does not fill. */
function timed(options: Partial<CompactorOptions> = {}) {
  const clock = { now: 1_000_000 };
  const events: CompactionEvent[] = [];
  const compactor = createCompactor({
    windowTokens: 1_000_000,
    trigger: 60_000,
    prices,
    strategy: 'token-budget',
    now: () => clock.now,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  return { clock, compactor, events };
}

const messages = deepFreeze(session(48, 500));
const next = deepFreeze(session(49, 500));

describe('pauses by the clock', () => {
  it('in which the prompt cache has expired make a compaction below the trigger free, and listeners hear why', async () => {
    const { clock, compactor, events } = timed();
    const first = await compactor.maybeCompact(messages);
    clock.now += HOUR;
    const { value, outcome, advice } = await compactor.maybeCompact(next);

    expect(first.value).toBe(messages);
    expect(outcome.status).toBe('compacted');
    expect(value.length).toBeLessThan(next.length);
    expect(advice).toMatchObject({ verdict: 'compact-now', reason: 'cache-expired' });
    expect(events.filter(({ type }) => type === 'compaction-advice')).toMatchObject([
      { verdict: 'compact-now', reason: 'cache-expired', tokens: expect.any(Number) },
    ]);
  });

  it.each([0, MINUTE])(
    'of %d milliseconds leave the cache warm and the conversation alone',
    async (pause) => {
      const { clock, compactor, events } = timed();
      await compactor.maybeCompact(messages);
      clock.now += pause;
      const { value } = await compactor.maybeCompact(next);

      expect(value).toBe(next);
      expect(events).toEqual([]);
    },
  );

  it('count from the last request, not from the first', async () => {
    const { clock, compactor } = timed();
    for (let turn = 0; turn < 60; turn++) {
      clock.now += MINUTE;
      expect((await compactor.maybeCompact(messages)).value).toBe(messages);
    }
  });

  it('that a clock runs backwards in are none', async () => {
    const { clock, compactor } = timed();
    await compactor.maybeCompact(messages);
    clock.now -= HOUR;

    expect((await compactor.maybeCompact(next)).value).toBe(next);
  });

  it('give way to what the caller knows', async () => {
    const { clock, compactor } = timed();
    await compactor.maybeCompact(messages);
    clock.now += HOUR;
    expect((await compactor.maybeCompact(next, { idleSeconds: 1 })).value).toBe(next);
    expect((await compactor.maybeCompact(next, { idleSeconds: 3600 })).outcome.status).toBe('compacted');
  });

  it('mean nothing when nobody asks what anything costs', async () => {
    const { clock, compactor, events } = timed({ economy: false });
    await compactor.maybeCompact(messages);
    clock.now += HOUR;

    expect((await compactor.maybeCompact(next)).value).toBe(next);
    expect(events).toEqual([]);
  });
});
