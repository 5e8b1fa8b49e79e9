import { describe, expect, it } from 'vitest';
import { contracts, findContract } from '../../src/contracts/registry.ts';

/** One mistake in every format that knows it. */
interface Mistake {
  readonly rule: string;
  /** By format: a body with the mistake, and what the rule was called when its id was a number. */
  readonly bodies: Readonly<Record<string, readonly [alias: string, body: unknown]>>;
}

const ask = { role: 'user', content: 'Go on.' };
const anthropic = (...messages: readonly unknown[]) => ({
  model: 'claude-opus-5',
  max_tokens: 100,
  tools: [{ name: 'read', input_schema: { type: 'object' } }],
  messages,
});
const toolUse = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] };
const toolResult = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] };
const chatCall = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }],
};
const geminiAsk = { role: 'user', parts: [{ text: 'Go on.' }] };
const geminiCall = { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] };
const geminiResponse = { role: 'user', parts: [{ functionResponse: { name: 'read', response: {} } }] };
const sdkCall = {
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'read', input: {} }],
};

const mistakes: readonly Mistake[] = [
  {
    rule: 'tool-call-without-result',
    bodies: {
      'anthropic-messages': ['A16', anthropic(ask, toolUse, ask)],
      'openai-chat': ['C1', { messages: [ask, chatCall, ask] }],
      'openai-responses': [
        'R3',
        { input: [{ type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' }] },
      ],
      gemini: ['G3', { contents: [geminiAsk, geminiCall, geminiAsk] }],
      'ai-sdk-model': ['V1', { messages: [ask, sdkCall, ask] }],
    },
  },
  {
    rule: 'tool-result-without-call',
    bodies: {
      'anthropic-messages': ['A17', anthropic(toolResult)],
      'openai-chat': ['C2', { messages: [ask, { role: 'tool', tool_call_id: 'a', content: 'ok' }] }],
      'openai-responses': ['R4', { input: [{ type: 'function_call_output', call_id: 'a', output: 'ok' }] }],
      gemini: ['G2', { contents: [geminiAsk, geminiResponse] }],
    },
  },
  {
    rule: 'no-messages',
    bodies: {
      'anthropic-messages': ['A1', anthropic()],
      'openai-chat': ['C3', { messages: [] }],
      gemini: ['G6', { contents: [] }],
      'ai-sdk-model': ['V2', { messages: [] }],
    },
  },
  {
    rule: 'unknown-role',
    bodies: {
      'anthropic-messages': ['A3', anthropic(ask, { role: 'oracle', content: 'Yes.' })],
      'openai-chat': ['C0', { messages: [{ role: 'oracle', content: 'Yes.' }] }],
      gemini: ['G7', { contents: [{ role: 'oracle', parts: [{ text: 'Yes.' }] }] }],
    },
  },
  {
    rule: 'missing-field',
    bodies: {
      'anthropic-messages': ['A2', { max_tokens: 100, messages: [ask] }],
      'openai-chat': ['C0', { model: 'gpt-5' }],
      'openai-responses': ['R0', { model: 'gpt-5' }],
    },
  },
  {
    rule: 'wrong-kind-of-value',
    bodies: {
      'anthropic-messages': ['A6', 7],
      'openai-chat': ['C0', 7],
      'openai-responses': ['R0', 7],
      gemini: ['G0', 7],
    },
  },
];

describe('ids of rules', () => {
  it.each(contracts)('are words in $format, and each stands for one rule', ({ rules }) => {
    const ids = rules.map(({ id }) => id);

    expect(ids.filter((id) => !/^[a-z]+(?:-[a-z]+)+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(rules.filter((rule) => 'alias' in rule)).toEqual([]);
  });

  const cases = mistakes.flatMap(({ rule, bodies }) =>
    Object.entries(bodies).map(([format, [alias, body]]) => ({ rule, format, alias, body })),
  );

  it.each(cases)(
    'say $rule in $format, and give the former id beside it',
    ({ rule, format, alias, body }) => {
      expect(findContract(format)?.check(body)).toMatchObject([{ rule, alias, severity: 'error' }]);
    },
  );
});
