import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { gemini } from '../formats/gemini/format.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { openaiResponses } from '../formats/openai-responses/format.ts';
import { createTokenEstimator } from './estimator.ts';
import { tokenClasses, tokensByClass } from './measure.ts';
import { o200kProfile } from './profiles.ts';

/** Counts characters, so that every expected number can be seen. */
const characters = createTokenEstimator({
  countText: (text) => text.length,
  profile: { ...o200kProfile, perMessageTokens: 0, sealedTokensPerCharacter: 2 },
});

describe('every kind of block counts', () => {
  it.each([
    { kind: 'text', format: anthropicMessages, message: { role: 'user', content: '12345' }, size: 5 },
    {
      kind: 'a call by name and input',
      format: anthropicMessages,
      message: { content: [{ type: 'tool_use', name: 'abc', input: { a: 1 } }] },
      size: 3 + 7,
    },
    {
      kind: 'raw arguments',
      format: openaiChat,
      message: {
        role: 'assistant',
        tool_calls: [{ id: 'x', function: { name: 'abc', arguments: '{oops' } }],
      },
      size: 3 + 5,
    },
    {
      kind: 'a result with all its parts',
      format: anthropicMessages,
      message: {
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'x',
            content: [{ type: 'text', text: '123' }, { type: 'odd' }],
          },
        ],
      },
      size: 3 + 14,
    },
    {
      kind: 'thinking without its signature',
      format: anthropicMessages,
      message: { content: [{ type: 'thinking', thinking: '1234', signature: 'sssssss' }] },
      size: 4,
    },
    {
      kind: 'thinking whose text was left out',
      format: anthropicMessages,
      message: { content: [{ type: 'thinking', thinking: '', signature: '123' }] },
      size: 6,
    },
    {
      kind: 'redacted thinking',
      format: anthropicMessages,
      message: { content: [{ type: 'redacted_thinking', data: '1234' }] },
      size: 8,
    },
    {
      kind: 'encrypted reasoning, not its summary',
      format: openaiResponses,
      message: { type: 'reasoning', summary: [{ text: 'long summary' }], encrypted_content: '12' },
      size: 4,
    },
    {
      kind: 'a function response',
      format: gemini,
      message: { role: 'user', parts: [{ functionResponse: { name: 'x', response: { output: '123456' } } }] },
      size: 6,
    },
    {
      kind: 'a text document',
      format: anthropicMessages,
      message: { content: [{ type: 'document', source: { type: 'text', data: '1234567' } }] },
      size: 7,
    },
    {
      kind: 'a picture behind a link',
      format: openaiChat,
      message: {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://example.com/x.png' } }],
      },
      size: 765,
    },
    {
      kind: 'an unknown block as JSON',
      format: anthropicMessages,
      message: { content: [{ type: 'new' }] },
      size: 14,
    },
  ])('$kind: $size', ({ format, message, size }) => {
    expect(characters.countMessage(format.readMessage(message))).toBe(size);
  });
});

describe('createTokenEstimator', () => {
  it('counts every message only once', () => {
    let calls = 0;
    const counting = createTokenEstimator({ countText: () => ++calls });
    const message = anthropicMessages.readMessage({ role: 'user', content: 'hello' });

    const first = counting.countMessage(message);

    expect(counting.countMessage(message)).toBe(first);
    expect(calls).toBe(1);
  });

  it('scales the built-in estimate to the family and adds what wraps a message', () => {
    const profile = { ...o200kProfile, textRatio: 2, perMessageTokens: 100 };
    const message = anthropicMessages.readMessage({
      role: 'user',
      content: 'The quick brown fox jumps over the lazy dog.',
    });
    const plain = createTokenEstimator({ profile: { ...o200kProfile, perMessageTokens: 0 } }).countMessage(
      message,
    );

    expect(plain).toBeGreaterThan(7);
    expect(plain).toBeLessThan(13);
    expect(createTokenEstimator({ profile }).countMessage(message)).toBeCloseTo(plain * 2 + 100);
  });

  it('counts tools with their hidden prompt, and nothing when there are none', () => {
    const estimator = createTokenEstimator({ countText: (text) => text.length });
    const none = anthropicMessages.read({ messages: [] }).frame;
    const one = anthropicMessages.read({ messages: [], tools: [{ name: 'a' }] }).frame;

    expect(estimator.countTools(none)).toBe(0);
    expect(estimator.countTools(one)).toBe(12 + 7 + '{"name":"a"}'.length);
  });
});

describe('tokensByClass', () => {
  test.prop([
    fc.array(fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.string() }), {
      maxLength: 8,
    }),
  ])('adds up to the whole', (messages) => {
    const estimator = createTokenEstimator();
    const conversation = anthropicMessages.read({
      system: 'be kind',
      tools: [{ name: 'ls', input_schema: {} }],
      messages,
    });
    const { frame } = conversation;
    const classes = tokensByClass(conversation, estimator);
    const whole =
      estimator.profile.perRequestTokens +
      estimator.countSystem(frame) +
      estimator.countTools(frame) +
      conversation.messages.reduce((sum, message) => sum + estimator.countMessage(message), 0);

    expect(tokenClasses.reduce((sum, name) => sum + classes[name], 0)).toBeCloseTo(whole, 6);
  });
});
