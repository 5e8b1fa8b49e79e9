import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from '../../tokens/token-estimator.ts';
import { findFloor } from './floor.ts';
import { layOut } from './layout.ts';
import { spansOf } from './pins.ts';
import { requestTokens } from './receipt.ts';

/** One token for each character. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

interface Sizes {
  readonly system?: number;
  readonly tool?: number;
  readonly task?: number;
  readonly old?: number;
  readonly recent?: number;
}

function conversationOf({ system = 1, tool = 1, task = 1, old = 1, recent = 1 }: Sizes) {
  const answer = (length: number) => ({
    role: 'assistant',
    content: [{ type: 'text', text: 'x'.repeat(length) }],
  });
  return anthropicMessages.read({
    system: 's'.repeat(system),
    tools: [{ name: 'probe', description: 'd'.repeat(tool), input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 't'.repeat(task) },
      answer(old),
      { role: 'user', content: 'and' },
      answer(recent),
    ],
  });
}

function floorOf(sizes: Sizes, cut = 2) {
  const conversation = conversationOf(sizes);
  return findFloor(
    conversation,
    estimator,
    layOut(conversation, { spans: spansOf(conversation.messages), cut }),
  );
}

describe('the floor', () => {
  it.each([
    { sizes: { system: 5000 }, heaviest: 'the instructions' },
    { sizes: { tool: 5000 }, heaviest: 'the tool definitions' },
    { sizes: { task: 5000 }, heaviest: 'the pinned messages' },
    { sizes: { recent: 5000 }, heaviest: 'the newest rounds' },
  ])('names $heaviest with its tokens when that weighs most', ({ sizes, heaviest }) => {
    const floor = floorOf(sizes);

    expect(floor.heaviest).toMatch(new RegExp(`^${heaviest} \\(5\\d{3} tokens\\)$`));
    expect(floor.tokens).toBeGreaterThan(5000);
  });

  it('does not count what can be summarised', () => {
    expect(floorOf({ old: 90_000 })).toEqual(floorOf({ old: 1 }));
  });

  it('is the whole request when nothing may go', () => {
    const conversation = conversationOf({ old: 700 });

    const layout = layOut(conversation, { spans: spansOf(conversation.messages), cut: 0 });

    expect(findFloor(conversation, estimator, layout).tokens).toBe(requestTokens(conversation, estimator));
  });
});
