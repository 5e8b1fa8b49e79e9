import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from './estimator.ts';
import { learnRatio, measureContext } from './measure.ts';
import { o200kProfile } from './profiles.ts';

const estimator = createTokenEstimator({
  countText: (text) => text.length,
  profile: { ...o200kProfile, perMessageTokens: 0, perRequestTokens: 10, relativeError: 0.2 },
});

const user = (length: number) => ({ role: 'user', content: 'x'.repeat(length) });
const answer = (id: string, length: number, prompt?: number, output = 0) => ({
  id,
  role: 'assistant',
  content: 'x'.repeat(length),
  ...(prompt === undefined
    ? {}
    : { usage: { input_tokens: 2, cache_read_input_tokens: prompt - 2, output_tokens: output } }),
});
const measure = (...messages: unknown[]) => measureContext(anthropicMessages.read(messages), estimator);

describe('measureContext', () => {
  it('estimates everything when nothing was reported, with an error bar', () => {
    expect(measure(user(100), answer('a', 90))).toEqual({
      tokens: 200,
      low: 160,
      high: 240,
      reportedTokens: 0,
    });
  });

  it('takes what was reported and estimates only what came after', () => {
    expect(measure(user(100), answer('a', 50, 5000, 70), user(30))).toMatchObject({
      tokens: 5100,
      reportedTokens: 5070,
    });
  });

  it('counts results that stand between the records of a response that was split', () => {
    const result = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'x', content: 'x'.repeat(40) }],
    };

    expect(
      measure(user(100), answer('a', 10, 5000, 70), result, answer('a', 10, 5000, 70), user(5)).tokens,
    ).toBe(5115);
  });

  it('knows more, so that its error bar is narrower', () => {
    const { low, high } = measure(user(100), answer('a', 50, 5000, 70), user(30));

    expect(high - low).toBeLessThan(20);
    expect(low).toBeGreaterThanOrEqual(5070);
  });

  it('takes the newest report', () => {
    expect(measure(user(9), answer('a', 9, 100, 1), user(9), answer('b', 9, 700, 1)).reportedTokens).toBe(
      701,
    );
  });
});

describe('learnRatio', () => {
  const grow = (factor: number) => {
    const messages: unknown[] = [user(1000)];
    let prompt = 20_000;
    for (let round = 0; round < 50; round++) {
      messages.push(answer(`m${round}`, 400, prompt, 0), user(600));
      prompt += 1000 * factor;
    }
    return anthropicMessages.read(messages).messages;
  };

  it.each([0.7, 1, 1.6, 3])('finds that the provider counts %d times as much', (factor) => {
    const { ratio, relativeError } = learnRatio(grow(factor), estimator);

    expect(ratio / factor).toBeGreaterThan(0.93);
    expect(ratio / factor).toBeLessThan(1.07);
    expect(relativeError).toBeLessThan(0.11);
  });

  it('learns nothing from a prompt that shrank or jumped', () => {
    const messages = [
      user(10),
      answer('a', 10, 90_000),
      user(10),
      answer('b', 10, 20_000),
      user(10),
      answer('c', 10, 80_000),
    ];

    expect(learnRatio(anthropicMessages.read(messages).messages, estimator).ratio).toBe(1);
  });
});
