import { describe, expect, it } from 'vitest';
import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { readConversation } from '../formats/registry.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { measureContext } from '../tokens/measure.ts';
import { o200kProfile } from '../tokens/profiles.ts';
import { roundSeries } from './round-series.ts';

const profile = { ...o200kProfile, perMessageTokens: 0, perRequestTokens: 0 };
const estimator = createTokenEstimator({ profile, countText: (text) => text.length });
const text = (letters: number) => 'x'.repeat(letters);

const conversation = (
  messages: readonly { role: string; size: number; usage?: readonly [number, number]; response?: string }[],
): Conversation => {
  const read = readConversation(messages.map(({ role, size }) => ({ role, content: text(size) })));
  const views = read.messages.map((message, index): Message => {
    const { usage, response } = messages[index]!;
    return {
      ...message,
      responseId: response,
      usage: usage && { promptTokens: usage[0], outputTokens: usage[1] },
    };
  });
  return { ...read, messages: views };
};

const sizesOf = (one: Conversation) =>
  roundSeries('recorded', [{ conversation: one, opening: undefined }], estimator).stretches;

describe('roundSeries', () => {
  it('adds up estimates where nothing was reported', () => {
    const plain = conversation([
      { role: 'user', size: 10 },
      { role: 'assistant', size: 5 },
      { role: 'user', size: 7 },
      { role: 'assistant', size: 3 },
    ]);

    expect(sizesOf(plain)).toEqual([[10, 22, 25]]);
  });

  it('goes by reports, and tells from the first what the file leaves out', () => {
    const reported = conversation([
      { role: 'user', size: 10 },
      { role: 'assistant', size: 5, usage: [1010, 5], response: 'a' },
      { role: 'user', size: 7 },
      { role: 'assistant', size: 3, usage: [1022, 4], response: 'b' },
    ]);

    expect(sizesOf(reported)).toEqual([[1010, 1022, 1026]]);
    expect(measureContext(reported, estimator).tokens).toBe(1026);
  });

  it('counts the records of one response once', () => {
    const records = conversation([
      { role: 'user', size: 10 },
      { role: 'assistant', size: 5, usage: [100, 2], response: 'a' },
      { role: 'assistant', size: 6, usage: [100, 11], response: 'a' },
    ]);

    expect(sizesOf(records).at(-1)?.at(-1)).toBe(111);
  });

  it('begins each stretch with what was carried over, whose old reports count for nothing', () => {
    const first = conversation([
      { role: 'user', size: 10 },
      { role: 'assistant', size: 90 },
    ]);
    const second = conversation([
      { role: 'user', size: 20 },
      { role: 'assistant', size: 5, usage: [90_000, 5], response: 'old' },
      { role: 'user', size: 4 },
      { role: 'assistant', size: 6 },
    ]);
    const opening = {
      trigger: 'auto',
      tokensBefore: undefined,
      tokensAfter: 30,
      summary: undefined,
      carried: 2,
    } as const;
    const stretches = [
      { conversation: first, opening: undefined },
      { conversation: second, opening },
    ];

    expect(roundSeries('recorded', stretches, estimator)).toEqual({
      name: 'recorded',
      stretches: [
        [10, 100],
        [25, 29, 35],
      ],
      compactions: [{ tokensBefore: 100, tokensAfter: 30, trigger: 'auto' }],
    });
  });
});
