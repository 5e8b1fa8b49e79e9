import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { notCompacted, type Outcome, type Strategy } from '../plan/strategy.ts';
import { withTimeout } from './with-timeout.ts';

const conversation = anthropicMessages.read(messagesOfShape('ua').map(({ raw }) => raw));
const done = notCompacted('skipped', 'done', 'done');

/** Never ends by itself; remembers the signal it was given. */
function hanging() {
  const signals: AbortSignal[] = [];
  const strategy: Strategy = {
    name: 'hanging',
    compact(_conversation, { signal }) {
      if (signal !== undefined) signals.push(signal);
      return new Promise(() => undefined);
    },
  };
  return { strategy, signals };
}

/** Ends as well-behaved strategies do when their signal says so. */
const listening: Strategy = {
  name: 'listening',
  compact: (_conversation, { signal }) =>
    new Promise<Outcome>((resolve) => {
      const end = () => resolve(notCompacted('failed', 'summary-aborted', 'aborted'));
      signal?.addEventListener('abort', end);
    }),
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('withTimeout', () => {
  it('ends a run that takes too long, and tells it', async () => {
    const { strategy, signals } = hanging();
    const run = withTimeout(strategy, { timeoutMs: 500 }).compact(conversation, strategyContext());
    await vi.advanceTimersByTimeAsync(499);
    expect(signals[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    expect(await run).toMatchObject({ status: 'failed', reason: 'timed-out' });
    expect(await run).toMatchObject({ message: expect.stringMatching(/hanging.*500 ms/) });
    expect(signals[0]?.aborted).toBe(true);
  });

  it('says that the time was over even if the run has an answer to that', async () => {
    const run = withTimeout(listening, { timeoutMs: 500 }).compact(conversation, strategyContext());
    await vi.advanceTimersByTimeAsync(500);

    expect(await run).toMatchObject({ reason: 'timed-out' });
  });

  it.each([hanging().strategy, listening])('ends a run that the caller aborts: $name', async (inner) => {
    const controller = new AbortController();
    const strategy = withTimeout(inner, { timeoutMs: 500 });
    const run = strategy.compact(conversation, strategyContext({ signal: controller.signal }));
    controller.abort();

    expect(await run).toMatchObject({ status: 'failed', reason: 'aborted' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not begin what is aborted already', async () => {
    const { strategy, signals } = hanging();
    const context = strategyContext({ signal: AbortSignal.abort() });

    expect(await withTimeout(strategy, { timeoutMs: 500 }).compact(conversation, context)).toMatchObject({
      reason: 'aborted',
    });
    expect(signals).toEqual([]);
  });

  it('leaves no timer behind when the run is done, or throws', async () => {
    const quick: Strategy = { name: 'quick', compact: async () => done };
    const broken: Strategy = { name: 'broken', compact: () => Promise.reject(new Error('a bug')) };

    expect(await withTimeout(quick, { timeoutMs: 500 }).compact(conversation, strategyContext())).toBe(done);
    await expect(
      withTimeout(broken, { timeoutMs: 500 }).compact(conversation, strategyContext()),
    ).rejects.toThrow('a bug');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes the time from wherever it is told to', async () => {
    const asked: unknown[] = [];
    const after = async (timeoutMs: number, signal: AbortSignal) => void asked.push(timeoutMs, signal);
    const { strategy } = hanging();
    const outcome = await withTimeout(strategy, { timeoutMs: 500, after }).compact(
      conversation,
      strategyContext(),
    );

    expect(outcome).toMatchObject({ reason: 'timed-out' });
    expect(asked).toMatchObject([500, { aborted: true }]);
  });

  it.each([0, -1, Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY])('does not take %d ms', (timeoutMs) => {
    expect(() => withTimeout(listening, { timeoutMs })).toThrow(/milliseconds from 1/);
  });
});
