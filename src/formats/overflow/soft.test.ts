import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Answer, detectSoftOverflow, readAnswer, softSigns } from './soft.ts';

describe('detectSoftOverflow', () => {
  it.each<{ why: string; answer: Answer; sign: number | undefined }>([
    {
      why: 'the stop reason says so',
      answer: { stopReason: 'model_context_window_exceeded', hasContent: true },
      sign: 0,
    },
    {
      why: 'a length stop without output',
      answer: { stopReason: 'length', hasContent: false, outputTokens: 0 },
      sign: 1,
    },
    { why: 'the same from Gemini', answer: { stopReason: 'MAX_TOKENS', hasContent: false }, sign: 1 },
    {
      why: 'a length stop after hidden reasoning',
      answer: { stopReason: 'length', hasContent: false, outputTokens: 4096 },
      sign: undefined,
    },
    {
      why: 'a length stop after text',
      answer: { stopReason: 'length', hasContent: true, outputTokens: 4096 },
      sign: undefined,
    },
    { why: 'an empty stream', answer: { hasContent: false }, sign: 2 },
    {
      why: 'an empty answer that ended normally',
      answer: { stopReason: 'end_turn', hasContent: false },
      sign: undefined,
    },
    {
      why: 'a count below half of what was sent',
      answer: { promptTokens: 4000, estimatedPromptTokens: 9000 },
      sign: 3,
    },
    {
      why: 'a count above half',
      answer: { promptTokens: 5000, estimatedPromptTokens: 9000 },
      sign: undefined,
    },
    {
      why: 'a small prompt that is badly estimated',
      answer: { promptTokens: 20, estimatedPromptTokens: 900 },
      sign: undefined,
    },
    {
      why: 'a count of 0 is no count',
      answer: { promptTokens: 0, estimatedPromptTokens: 9000 },
      sign: undefined,
    },
    {
      why: 'a count that fits although far too much was sent',
      answer: { promptTokens: 3500, estimatedPromptTokens: 6000, windowTokens: 4096 },
      sign: 4,
    },
    {
      why: 'an estimate barely above the window',
      answer: { promptTokens: 3500, estimatedPromptTokens: 4500, windowTokens: 4096 },
      sign: undefined,
    },
    { why: 'a prompt as large as the window', answer: { promptTokens: 4096, windowTokens: 4096 }, sign: 5 },
    {
      why: 'a prompt larger than the window',
      answer: { promptTokens: 210_000, windowTokens: 200_000 },
      sign: 5,
    },
    {
      why: 'a prompt with room to spare',
      answer: { promptTokens: 4000, windowTokens: 4096 },
      sign: undefined,
    },
    {
      why: 'a prompt that both counts put above the window',
      answer: { promptTokens: 210_000, estimatedPromptTokens: 260_000, windowTokens: 200_000 },
      sign: 5,
    },
    { why: 'nothing known', answer: {}, sign: undefined },
  ])('$why', ({ answer, sign }) => {
    expect(detectSoftOverflow(answer)?.message).toBe(
      sign === undefined ? undefined : softSigns[sign]?.message,
    );
  });

  it('knows the excess when a count exceeds the window', () => {
    expect(detectSoftOverflow({ promptTokens: 210_000, windowTokens: 200_000 })?.excessTokens).toBe(10_000);
    expect(
      detectSoftOverflow({ promptTokens: 4000, estimatedPromptTokens: 9000, windowTokens: 4096 })
        ?.excessTokens,
    ).toBe(4904);
    expect(detectSoftOverflow({ promptTokens: 4096, windowTokens: 4096 })?.excessTokens).toBeUndefined();
  });
});

describe('readAnswer', () => {
  it.each<{ shape: string; body: unknown; answer: Answer }>([
    {
      shape: 'Anthropic Messages, with cached tokens',
      body: {
        type: 'message',
        content: [],
        stop_reason: 'max_tokens',
        usage: {
          input_tokens: 1,
          cache_read_input_tokens: 20,
          cache_creation_input_tokens: null,
          output_tokens: 0,
        },
      },
      answer: { stopReason: 'max_tokens', promptTokens: 21, outputTokens: 0, hasContent: false },
    },
    {
      shape: 'Chat with a tool call',
      body: {
        choices: [{ finish_reason: 'tool_calls', message: { content: null, tool_calls: [{}] } }],
        usage: { prompt_tokens: 7, completion_tokens: 2 },
      },
      answer: { stopReason: 'tool_calls', promptTokens: 7, outputTokens: 2, hasContent: true },
    },
    { shape: 'Chat without choices', body: { choices: [] }, answer: { hasContent: false } },
    {
      shape: 'a closing event of Responses',
      body: {
        type: 'response.incomplete',
        response: {
          object: 'response',
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [],
          usage: { input_tokens: 9, output_tokens: 0 },
        },
      },
      answer: { stopReason: 'max_output_tokens', promptTokens: 9, outputTokens: 0, hasContent: false },
    },
    {
      shape: 'Gemini',
      body: {
        candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'a' }] } }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, thoughtsTokenCount: 4 },
      },
      answer: { stopReason: 'STOP', promptTokens: 5, outputTokens: 5, hasContent: true },
    },
    {
      shape: 'Ollama generate',
      body: { done: true, response: 'hi', done_reason: 'stop', prompt_eval_count: 3, eval_count: 1 },
      answer: { stopReason: 'stop', promptTokens: 3, outputTokens: 1, hasContent: true },
    },
    { shape: 'something else', body: { hello: 'world' }, answer: {} },
  ])('reads $shape', ({ body, answer }) => {
    expect(readAnswer(body)).toEqual(answer);
  });

  test.prop([fc.anything()])('never throws', (body) => {
    expect(() => detectSoftOverflow(readAnswer(body))).not.toThrow();
  });
});
