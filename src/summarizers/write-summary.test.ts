import { describe, expect, it } from 'vitest';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import { judgeSize } from './write-summary.ts';

describe('judgeSize', () => {
  const conversation = anthropicMessages.read([{ role: 'user', content: 'word '.repeat(200) }]);
  const request = {
    messages: conversation.messages,
    conversation,
    previousSummary: undefined,
    instructions: undefined,
    estimator: createTokenEstimator(),
    signal: undefined,
  };

  it.each([
    { text: 'word', maximumTokens: 1000, reason: undefined },
    { text: '…', maximumTokens: 1000, reason: 'empty' },
    { text: 'word '.repeat(100), maximumTokens: 50, reason: 'too-large' },
    { text: 'word '.repeat(300), maximumTokens: 1000, reason: 'not-smaller' },
  ])(
    'says $reason of $text.length characters within $maximumTokens tokens',
    ({ text, maximumTokens, reason }) => {
      expect(judgeSize(text, { ...request, maximumTokens })?.reason).toBe(reason);
    },
  );

  it('counts the previous summary as part of what is replaced', () => {
    const text = 'word '.repeat(300);

    expect(judgeSize(text, { ...request, maximumTokens: 1000, previousSummary: text })).toBeUndefined();
  });
});
