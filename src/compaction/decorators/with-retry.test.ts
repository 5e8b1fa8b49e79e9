import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { notCompacted, type Outcome, type Strategy } from '../plan/strategy.ts';
import { withRetry } from './with-retry.ts';

const conversation = anthropicMessages.read(messagesOfShape('ua').map(({ raw }) => raw));
const done = notCompacted('skipped', 'done', 'done', { promptTokens: 1, outputTokens: 1 });

const failure = (reason: string): Outcome =>
  notCompacted('failed', reason, reason, { promptTokens: 100, outputTokens: 10 });

/** Gives these outcomes, one a run, and stays with the last. */
function scripted(...outcomes: readonly Outcome[]): Strategy & { runs: number } {
  const strategy = {
    name: 'scripted',
    runs: 0,
    compact: async () => outcomes[Math.min(strategy.runs++, outcomes.length - 1)] ?? done,
  };
  return strategy;
}

describe('withRetry', () => {
  it.each([
    { reason: 'upstream', runs: 2 },
    { reason: 'summary-upstream', runs: 2 },
    { reason: 'timed-out', runs: 2 },
    { reason: 'summary-refused', runs: 1 },
    { reason: 'summary-truncated', runs: 1 },
    { reason: 'illegal-output', runs: 1 },
    { reason: 'aborted', runs: 1 },
    { reason: 'hook-failed', runs: 1 },
  ])('runs $runs times when the failure is $reason', async ({ reason, runs }) => {
    const inner = scripted(failure(reason), done);
    await withRetry(inner).compact(conversation, strategyContext());

    expect(inner.runs).toBe(runs);
  });

  it('adds up what all runs cost', async () => {
    const inner = scripted(failure('upstream'), failure('timed-out'), done);
    const outcome = await withRetry(inner, { attempts: 3 }).compact(conversation, strategyContext());

    expect(outcome).toEqual({ ...done, usage: { promptTokens: 201, outputTokens: 21 } });
  });

  it('gives up after the last attempt, with the last failure', async () => {
    const inner = scripted(failure('upstream'));
    const outcome = await withRetry(inner, { attempts: 4 }).compact(conversation, strategyContext());

    expect(inner.runs).toBe(4);
    expect(outcome).toMatchObject({ status: 'failed', reason: 'upstream', usage: { promptTokens: 400 } });
  });

  it.each(['summary-refused', 'summary-input-too-long', 'illegal-output', 'aborted', 'summary-aborted'])(
    'never runs again after %s, whatever the caller thinks',
    async (reason) => {
      const inner = scripted(failure(reason));
      await withRetry(inner, { attempts: 9, isRetryable: () => true }).compact(
        conversation,
        strategyContext(),
      );

      expect(inner.runs).toBe(1);
    },
  );

  it.each(['skipped', 'insufficient'] as const)('takes %s for an answer', async (status) => {
    const inner = scripted(notCompacted(status, 'upstream', 'not a failure'));
    await withRetry(inner, { isRetryable: () => true }).compact(conversation, strategyContext());

    expect(inner.runs).toBe(1);
  });

  it('lets the caller decide about other failures', async () => {
    const inner = scripted(failure('summary-truncated'), done);
    const isRetryable = ({ reason }: { reason: string }) => reason === 'summary-truncated';

    expect(await withRetry(inner, { isRetryable }).compact(conversation, strategyContext())).toMatchObject({
      reason: 'done',
    });
  });

  it('waits before every further run', async () => {
    const waited: number[] = [];
    const inner = scripted(failure('upstream'));
    const wait = async (attempts: number) => void waited.push(attempts * 10 + inner.runs);
    await withRetry(inner, { attempts: 3, wait }).compact(conversation, strategyContext());

    expect(waited).toEqual([11, 22]);
  });

  it.each([
    { title: 'resolves', wait: async () => undefined },
    { title: 'rejects', wait: () => Promise.reject(new Error('aborted')) },
  ])('does not run again when it was aborted while waiting, and the wait $title', async ({ wait }) => {
    const controller = new AbortController();
    const inner = scripted(failure('upstream'), done);
    const strategy = withRetry(inner, {
      wait: () => {
        controller.abort();
        return wait();
      },
    });
    const outcome = await strategy.compact(conversation, strategyContext({ signal: controller.signal }));

    expect(outcome).toEqual(failure('upstream'));
    expect(inner.runs).toBe(1);
  });

  it('ends at once when it is aborted while a wait goes on that does not listen', async () => {
    const controller = new AbortController();
    const inner = scripted(failure('upstream'), done);
    const strategy = withRetry(inner, { wait: () => new Promise(() => undefined) });
    const run = strategy.compact(conversation, strategyContext({ signal: controller.signal }));
    setTimeout(() => controller.abort(), 1);

    expect(await run).toEqual(failure('upstream'));
    expect(inner.runs).toBe(1);
  });

  it.each([0, 1.5, Number.NaN])('does not take %d for a number of attempts', (attempts) => {
    expect(() => withRetry(scripted(done), { attempts })).toThrow(/whole number from 1/);
  });
});
