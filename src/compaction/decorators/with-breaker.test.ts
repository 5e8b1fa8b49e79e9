import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import {
  type AutoCompactState,
  COOL_DOWN_TURNS,
  initialAutoCompactState,
  MAX_CONSECUTIVE_FAILURES,
  MAX_USELESS_PASSES,
} from '../breaker.ts';
import { notCompacted, type Strategy, type StrategyContext } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { withBreaker } from './with-breaker.ts';

const conversation = anthropicMessages.read(messagesOfShape('ucracrua').map(({ raw }) => raw));
const auto = strategyContext({ trigger: 'auto' });
const manual = strategyContext({ trigger: 'manual' });

/** Ends every run in the same way and counts them. */
function ending(status: 'failed' | 'insufficient' | 'skipped'): Strategy & { runs: number } {
  const strategy = {
    name: 'ending',
    runs: 0,
    async compact() {
      strategy.runs++;
      return notCompacted(status, 'some-reason', 'some message');
    },
  };
  return strategy;
}

async function repeat(strategy: Strategy, times: number, context: StrategyContext = auto) {
  const reasons: string[] = [];
  for (let run = 0; run < times; run++) {
    reasons.push((await strategy.compact(conversation, context)).reason);
  }
  return reasons;
}

describe('withBreaker', () => {
  it.each([
    { status: 'failed', limit: MAX_CONSECUTIVE_FAILURES },
    { status: 'insufficient', limit: MAX_USELESS_PASSES },
  ] as const)('pauses after $limit runs that are $status, then tries once per pause', async (row) => {
    const inner = ending(row.status);
    const strategy = withBreaker(inner);
    const pause = Array.from({ length: COOL_DOWN_TURNS }, () => 'paused');

    expect(await repeat(strategy, row.limit + COOL_DOWN_TURNS)).toEqual([
      ...Array.from({ length: row.limit }, () => 'some-reason'),
      ...pause,
    ]);
    expect(await repeat(strategy, 1 + COOL_DOWN_TURNS)).toEqual(['some-reason', ...pause]);
    expect(inner.runs).toBe(row.limit + 1);
  });

  it('says why it pauses and for how long', async () => {
    const strategy = withBreaker(ending('failed'));
    await repeat(strategy, MAX_CONSECUTIVE_FAILURES);
    const outcome = await strategy.compact(conversation, auto);

    expect(outcome).toMatchObject({ status: 'skipped', reason: 'paused' });
    expect(outcome).toMatchObject({ message: expect.stringMatching(/ending.*10 more turns.*some-reason/) });
  });

  it('never pauses a manual run, and forgets what failed before it', async () => {
    const inner = ending('failed');
    const strategy = withBreaker(inner, { state: { ...initialAutoCompactState, compactionCount: 2 } });
    await repeat(strategy, MAX_CONSECUTIVE_FAILURES + 1);

    expect(await repeat(strategy, 1, manual)).toEqual(['some-reason']);
    expect(strategy.state).toMatchObject({ consecutiveFailures: 1, pausedTurns: 0, compactionCount: 2 });
    expect(await repeat(strategy, MAX_CONSECUTIVE_FAILURES - 1)).not.toContain('paused');
    expect(await repeat(strategy, 1)).toEqual(['paused']);
  });

  it('pauses an overflow run too: it would fail as the others did', async () => {
    const strategy = withBreaker(ending('failed'));
    await repeat(strategy, MAX_CONSECUTIVE_FAILURES);

    expect(await repeat(strategy, 1, strategyContext({ trigger: 'overflow' }))).toEqual(['paused']);
  });

  it('is over its failures after a success, and counts it', async () => {
    const failing = ending('failed');
    const window = createStrategy('sliding-window', { keepLast: 2 });
    let inner: Strategy = failing;
    const strategy = withBreaker({ name: 'mixed', compact: (...run) => inner.compact(...run) });
    await repeat(strategy, MAX_CONSECUTIVE_FAILURES - 1);
    inner = window;
    await repeat(strategy, 1);

    expect(strategy.state).toEqual({ ...initialAutoCompactState, compactionCount: 1 });
  });

  it('goes on where a stored state left off, and tells every change but no other', async () => {
    const states: AutoCompactState[] = [];
    const first = withBreaker(ending('failed'), { onChange: (state) => states.push(state) });
    await repeat(first, MAX_CONSECUTIVE_FAILURES + 4);
    const stored = deepFreeze(JSON.parse(JSON.stringify(states.at(-1))) as AutoCompactState);
    const inner = ending('failed');

    expect(states).toHaveLength(MAX_CONSECUTIVE_FAILURES + 4);
    expect(states.at(-1)).toBe(first.state);
    expect(await repeat(withBreaker(inner, { state: stored }), COOL_DOWN_TURNS - 4)).not.toContain(
      'some-reason',
    );
    await withBreaker(ending('skipped'), { onChange: () => expect.unreachable() }).compact(
      conversation,
      auto,
    );
  });

  it('does not count a run that was aborted', async () => {
    const controller = new AbortController();
    const strategy = withBreaker(ending('failed'));
    controller.abort();
    await repeat(strategy, 5, strategyContext({ trigger: 'auto', signal: controller.signal }));

    expect(strategy.state).toBe(initialAutoCompactState);
  });

  it('counts a run that throws', async () => {
    const strategy = withBreaker({ name: 'broken', compact: () => Promise.reject(new Error('a bug')) });
    await expect(strategy.compact(conversation, auto)).rejects.toThrow('a bug');

    expect(strategy.state.consecutiveFailures).toBe(1);
  });
});
