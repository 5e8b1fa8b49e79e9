import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { steps } from '../../../test/support/conversations.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import { findFormat } from '../../formats/registry.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

/** One token for each character, three for each message. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

/** Ten messages of 100 tokens each, between the task and the newest round; 1022 tokens in all. */
const conversation = anthropicMessages.read([
  { role: 'user', content: 'task' },
  ...Array.from({ length: 10 }, (_one, index) => ({
    role: index % 2 === 0 ? 'assistant' : 'user',
    content: 'x'.repeat(97),
  })),
  { role: 'assistant', content: 'ok' },
  { role: 'user', content: 'more' },
]);

async function run(
  options: Readonly<Record<string, unknown>>,
  targetTokens = 1_000_000,
  source = conversation,
) {
  return createStrategy('token-budget', options).compact(
    source,
    strategyContext({ estimator, targetTokens }),
  );
}

describe('token-budget', () => {
  it('takes the target of the run when it has no budget of its own', async () => {
    expect(await run({})).toMatchObject({ status: 'skipped', reason: 'below-target' });
    expect(await run({}, 525)).toMatchObject({
      status: 'compacted',
      receipt: { messagesAfter: 8, tokensAfter: 522 },
    });
  });

  it('takes its own budget before the target of the run, and drops no more than needed', async () => {
    expect(await run({ budget: 325 }, 1)).toMatchObject({ receipt: { tokensAfter: 322 } });
    expect(await run({ budget: 322 }, 1)).toMatchObject({ receipt: { tokensAfter: 322 } });
    expect(await run({ budget: 321 }, 1)).toMatchObject({ receipt: { tokensAfter: 222 } });
    expect(await run({ budget: 5000 }, 1)).toMatchObject({ status: 'skipped' });
  });

  it('counts bytes of the messages as they are sent when asked to', async () => {
    const bytes = (from: number) =>
      conversation.messages
        .filter((_message, index) => index === 0 || index > from)
        .reduce((sum, { raw }) => sum + JSON.stringify(raw).length, 0);

    expect(await run({ unit: 'bytes', budget: bytes(4) })).toMatchObject({ receipt: { messagesAfter: 9 } });
    expect(await run({ unit: 'bytes', budget: bytes(0) })).toMatchObject({ status: 'skipped' });
    expect(await run({ unit: 'tokens', budget: bytes(0) })).toMatchObject({ status: 'skipped' });
  });

  it('counts bytes, not characters', async () => {
    const wide = openaiChat.read([
      { role: 'user', content: 'task' },
      { role: 'user', content: '語'.repeat(100) },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: 'more' },
    ]);

    expect(await run({ unit: 'bytes', budget: 350 }, 1, wide)).toMatchObject({ status: 'compacted' });
    expect(await run({ unit: 'bytes', budget: 600 }, 1, wide)).toMatchObject({ status: 'skipped' });
  });

  it('does not take a target in tokens for a budget in bytes', () => {
    expect(() => createStrategy('token-budget', { unit: 'bytes' })).toThrow(/budget/);
  });

  it('says that what is pinned does not fit, and changes nothing', async () => {
    const pinned = openaiChat.read([{ role: 'user', content: 'x'.repeat(500) }]);

    expect(await run({ budget: 100 }, 1, pinned)).toMatchObject({
      status: 'insufficient',
      reason: 'floor-exceeds-target',
      message: expect.stringContaining('more than 100'),
    });
  });

  it('keeps the newest round, whose results the model has not seen', async () => {
    const call = (id: string) => ({
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'bash', input: {} }],
    });
    const result = (id: string) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(200) }],
    });
    const open = anthropicMessages.read([
      { role: 'user', content: 'task' },
      call('a'),
      result('a'),
      call('b'),
      result('b'),
    ]);
    const outcome = await run({ budget: 50 }, 1, open);
    const kept = outcome.status === 'compacted' ? outcome.conversation : open;

    expect(kept.messages.at(-1)).toBe(open.messages.at(-1));
  });

  it('says how much it dropped, the last stretch included', async () => {
    expect(await run({ budget: 30 }, 1)).toMatchObject({ reason: 'dropped 1000 of 1022 tokens' });
    expect(await run({ budget: 17 }, 1)).toMatchObject({ reason: 'dropped 1005 of 1022 tokens' });
  });

  it('makes the best there is where the budget cannot be met, and says so', async () => {
    const outcome = await run({ budget: 10 }, 1);

    expect(outcome).toMatchObject({
      status: 'insufficient',
      reason: 'floor-exceeds-target',
      best: { receipt: { messagesAfter: 2, tokensAfter: 17 } },
    });
    expect(outcome).toMatchObject({ message: expect.stringContaining('17 tokens are left of 1022') });
  });

  test.prop([steps, fc.constantFrom(...Object.keys(writers)), fc.integer({ min: 1, max: 300 })])(
    'never says that a request is within a budget when it is not',
    async (list, name, budget) => {
      const source = findFormat(name)!.read(writers[name]!(list));
      const outcome = await run({ budget }, 1, source);
      const isWithin = requestTokens(changeOf(outcome)?.conversation ?? source, estimator) <= budget;

      if (outcome.status === 'compacted') expect(isWithin).toBe(true);
      if (outcome.status === 'insufficient') expect(isWithin).toBe(false);
      if (outcome.reason === 'below-target') expect(isWithin).toBe(true);
    },
  );
});
