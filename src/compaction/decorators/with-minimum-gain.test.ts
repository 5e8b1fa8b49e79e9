import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { type Compacted, changeOf, judgeTarget, type Strategy } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { withMinimumGain } from './with-minimum-gain.ts';

const conversation = anthropicMessages.read(messagesOfShape('ucracrua').map(({ raw }) => raw));
const usage = { promptTokens: 9, outputTokens: 1 };

/** A strategy whose result has so many of 1000 tokens. */
function leaving(tokensAfter: number): Strategy {
  const window = createStrategy('sliding-window', { keepLast: 2 });
  return {
    name: 'leaving',
    async compact(...run) {
      const outcome = (await window.compact(...run)) as Compacted; // eight messages are more than two
      return { ...outcome, usage, receipt: { ...outcome.receipt, tokensBefore: 1000, tokensAfter } };
    },
  };
}

describe('withMinimumGain', () => {
  it.each([
    { left: 800, share: undefined, target: 10, status: 'compacted', why: 'exactly a fifth is saved' },
    { left: 801, share: undefined, target: 10, status: 'insufficient', why: 'less than a fifth is saved' },
    { left: 801, share: undefined, target: 801, status: 'compacted', why: 'the target is reached' },
    { left: 900, share: 0.1, target: 10, status: 'compacted', why: 'the share asked for is saved' },
    { left: 1001, share: undefined, target: 5000, status: 'insufficient', why: 'it grows, target or not' },
    { left: 1001, share: 0, target: 10, status: 'insufficient', why: 'it grows and nothing must be saved' },
    { left: 1000, share: 0, target: 10, status: 'compacted', why: 'nothing must be saved' },
  ])('is $status when $why', async ({ left, share, target, status }) => {
    const strategy = withMinimumGain(leaving(left), { share });
    const outcome = await strategy.compact(conversation, strategyContext({ targetTokens: target }));

    expect(outcome).toMatchObject({ status, usage });
    if (status === 'insufficient') {
      expect(outcome).toMatchObject({
        reason: 'gain-too-small',
        message: expect.stringContaining('leaving'),
      });
    }
  });

  it.each([
    { left: 800, isKept: true },
    { left: 801, isKept: false },
  ])('judges the best there is where the target was missed: $left', async ({ left, isKept }) => {
    const missing: Strategy = {
      name: 'missing',
      compact: async (...run) => judgeTarget(await leaving(left).compact(...run), 10, 'the tools'),
    };
    const outcome = await withMinimumGain(missing).compact(
      conversation,
      strategyContext({ targetTokens: 10 }),
    );

    expect(outcome).toMatchObject({ status: 'insufficient', usage });
    expect(changeOf(outcome) !== undefined).toBe(isKept);
  });

  it.each([-0.1, 1.1, Number.NaN])('does not take %d for a share', (share) => {
    expect(() => withMinimumGain(leaving(1), { share })).toThrow(/share from 0 to 1/);
  });
});
