import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { changeOf, judgeTarget, type Strategy } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { withValidation } from './with-validation.ts';

const body = deepFreeze(messagesOfShape('ucracrua').map(({ raw }) => raw));
const conversation = anthropicMessages.read(body);
const window = createStrategy('sliding-window', { keepLast: 2 });
const usage = { promptTokens: 9, outputTokens: 1 };
const paid: Strategy = {
  name: 'paid',
  compact: async (...run) => ({ ...(await window.compact(...run)), usage }),
};

describe('withValidation', () => {
  it.each([
    { before: 0, after: 0, status: 'compacted', why: 'the result is in order' },
    { before: 2, after: 2, status: 'compacted', why: 'the result is no worse than what came in' },
    { before: 2, after: 1, status: 'compacted', why: 'the result is better' },
    { before: 0, after: 1, status: 'failed', why: 'the result has an error' },
    { before: 2, after: 3, status: 'failed', why: 'the result has one more error' },
    { before: 0, after: Number.NaN, status: 'failed', why: 'the count is no number' },
  ])('is $status when $why', async ({ before, after, status }) => {
    const strategy = withValidation(paid, (value) => (value === body ? before : after));
    const outcome = await strategy.compact(conversation, strategyContext());

    expect(outcome).toMatchObject({ status, usage });
    if (status === 'failed') expect(outcome).toMatchObject({ reason: 'illegal-output' });
    expect('conversation' in outcome).toBe(status === 'compacted');
  });

  it.each([0, 1])('checks the best there is where the target was missed: %i errors', async (errors) => {
    const missing: Strategy = {
      name: 'missing',
      compact: async (...run) => judgeTarget(await paid.compact(...run), 1, 'the tools'),
    };
    const strategy = withValidation(missing, (value) => (value === body ? 0 : errors));
    const outcome = await strategy.compact(conversation, strategyContext());

    expect(outcome).toMatchObject({ status: errors === 0 ? 'insufficient' : 'failed', usage });
    expect(changeOf(outcome) !== undefined).toBe(errors === 0);
  });

  it('checks what will be sent', async () => {
    const seen: unknown[] = [];
    const strategy = withValidation(window, (value) => seen.push(value));
    await strategy.compact(conversation, strategyContext());

    expect(seen).toHaveLength(2);
    expect(seen[0]).not.toHaveLength(body.length);
    expect(seen[1]).toBe(body);
  });

  it('does not look at what came in when the result is in order', async () => {
    const seen: unknown[] = [];
    await withValidation(window, (value) => seen.push(value) && 0).compact(conversation, strategyContext());

    expect(seen).toHaveLength(1);
  });

  it('discards a result that cannot be checked', async () => {
    const strategy = withValidation(window, () => {
      throw new Error('no such contract');
    });

    expect(await strategy.compact(conversation, strategyContext())).toMatchObject({
      status: 'failed',
      reason: 'check-failed',
      message: expect.stringContaining('no such contract'),
    });
  });

  it('checks nothing when nothing was compacted', async () => {
    const strategy = withValidation(createStrategy('none'), () => expect.unreachable());

    expect(await strategy.compact(conversation, strategyContext())).toMatchObject({ status: 'skipped' });
  });
});
