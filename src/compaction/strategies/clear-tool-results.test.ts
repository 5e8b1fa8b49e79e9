import { describe, expect, it } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { textOf } from '../../conversation/message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import type { StrategyContext } from '../plan/strategy.ts';
import { CLEARED_TEXT } from './clear-tool-results.ts';
import { createStrategy } from './registry.ts';

/** One token for each character. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

interface Use {
  readonly name?: string;
  readonly size?: number;
  readonly content?: unknown;
  readonly isError?: boolean;
}

function session(uses: readonly Use[]) {
  return anthropicMessages.read([
    { role: 'user', content: 'task' },
    ...uses.flatMap(({ name = 'bash', size = 1000, content = 'x'.repeat(size), isError }, index) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name, input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${index}`,
            content,
            ...(isError === true ? { is_error: true } : {}),
          },
        ],
      },
    ]),
  ]);
}

const eager = { protectTokens: 1000, minBatchTokens: 1 };

/** Places of the uses whose results were cleared, or why none was. */
async function cleared(uses: readonly Use[], options: object = eager, given: Partial<StrategyContext> = {}) {
  const context = strategyContext({ estimator, ...given });
  const outcome = await createStrategy('clear-tool-results', { ...options }).compact(session(uses), context);
  if (outcome.status !== 'compacted') return outcome.reason;
  const { messages } = outcome.conversation;
  return uses.flatMap((_use, index) =>
    textOf(messages[2 + index * 2]!.blocks[0]!) === CLEARED_TEXT ? [index] : [],
  );
}

const many = (count: number, use: Use = {}) => Array.from({ length: count }, () => use);

describe('clear-tool-results', () => {
  it('leaves a text that never changes', () => {
    expect(CLEARED_TEXT).toBe('[Old tool result content cleared]');
  });

  /** A result that nobody may clear, so that no target is within reach. */
  const huge = { name: 'ask_user', size: 3_000_000 };

  it('protects the newest fifth of the target, or as many tokens as protectTokens says', async () => {
    expect(await cleared([huge, ...many(20)], {}, { targetTokens: 10_000 })).toEqual(
      Array.from({ length: 18 }, (_one, index) => index + 1),
    );
    expect(await cleared(many(5), { ...eager, protectTokens: 3000 })).toEqual([0, 1]);
    expect(await cleared(many(5), { ...eager, protectTokens: 2999 })).toEqual([0, 1, 2]);
  });

  it.each([
    { targetTokens: 10_000, size: 1000, few: 3, enough: 4 },
    { targetTokens: 1_000_000, size: 10_000, few: 22, enough: 23 },
  ])(
    'acts from a tenth of the target on, or from 20,000 tokens: $targetTokens',
    async ({ targetTokens, size, few, enough }) => {
      const given = { targetTokens };

      expect(await cleared([huge, ...many(few, { size })], {}, given)).toBe('batch-too-small');
      expect(await cleared([huge, ...many(enough, { size })], {}, given)).toEqual(expect.any(Array));
    },
  );

  it('acts from minBatchTokens on, by what clearing frees', async () => {
    const freed = 4 * (1000 - CLEARED_TEXT.length);

    expect(await cleared(many(5), { ...eager, minBatchTokens: freed })).toHaveLength(4);
    expect(await cleared(many(5), { ...eager, minBatchTokens: freed + 1 })).toBe('batch-too-small');
  });

  it('clears the oldest first, and no more than the target needs', async () => {
    const targetTokens = 15_000;
    const places = await cleared(many(20), eager, { targetTokens });
    const tokensWith = (count: number) => {
      const uses = many(20).map((use, index) => (index < count ? { ...use, content: CLEARED_TEXT } : use));
      return requestTokens(session(uses), estimator);
    };

    expect(places).toEqual(Array.from({ length: places.length }, (_one, index) => index));
    expect(tokensWith(places.length)).toBeLessThanOrEqual(targetTokens);
    expect(tokensWith(places.length - 1)).toBeGreaterThan(targetTokens);
  });

  it('clears only tools that can be run again, or those that are listed', async () => {
    const uses = [{ name: 'Read' }, { name: 'ask_user' }, { name: 'deploy' }, { name: 'WebFetch' }, {}];

    expect(await cleared(uses)).toEqual([0, 3]);
    expect(await cleared(uses, { ...eager, tools: ['deploy'] })).toEqual([2]);
    expect(await cleared(uses, { ...eager, tools: 'ask_user, Read' })).toEqual([0, 1]);
    expect(await cleared(uses, { ...eager, tools: [] })).toBe('batch-too-small');
  });

  it('leaves the tools of other servers alone, whatever they are called: nobody knows if they can be run again', async () => {
    expect(await cleared([{ name: 'mcp__tracker__search' }, {}])).toBe('batch-too-small');
  });

  it('leaves errors alone, counted as they are', async () => {
    expect(await cleared([{}, { isError: true }, {}])).toEqual([0]);
  });

  it('leaves pictures alone: what was seen once is not seen again', async () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    };

    expect(await cleared([{ content: [image] }, {}, {}])).toEqual([1]);
  });

  it('leaves what a pattern pins', async () => {
    const uses = [{ content: `KEEP ${'x'.repeat(900)}` }, {}, {}];

    expect(await cleared(uses)).toEqual([0, 1]);
    expect(await cleared(uses, eager, { pins: { patterns: [/KEEP/] } })).toEqual([1]);
  });

  it('keeps the newest result, however large it is: the model has not seen it', async () => {
    expect(await cleared([{}, { size: 90_000 }])).toEqual([0]);
    expect(await cleared([{}, {}], { protectTokens: 1, minBatchTokens: 1 })).toEqual([0]);
  });

  it('does not count what it cleared before', async () => {
    const strategy = createStrategy('clear-tool-results', eager);
    const context = strategyContext({ estimator });
    const outcome = await strategy.compact(session(many(5)), context);
    expect(outcome.status).toBe('compacted');
    if (outcome.status !== 'compacted') return;

    expect(await strategy.compact(outcome.conversation, context)).toMatchObject({ status: 'skipped' });
  });
});
