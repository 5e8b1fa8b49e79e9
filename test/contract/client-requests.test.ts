import { describe, expect, it } from 'vitest';
import type { CheckContext } from '../../src/contracts/contract.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { type CapturedRequest, capturedRequests, capturesAreMissing } from '../support/client-captures.ts';

/** Which contract judges a request, by its path. */
const formatsByPath: readonly (readonly [path: RegExp, format: string])[] = [
  [/^\/v1\/messages(?:\/count_tokens)?$/, 'anthropic-messages'],
  [/\/chat\/completions$/, 'openai-chat'],
  [/\/responses$/, 'openai-responses'],
  [/:(?:stream)?generateContent$/i, 'gemini'],
];

function pathOf({ url }: CapturedRequest): string {
  return new URL(url, 'http://localhost').pathname;
}

function contractOf(request: CapturedRequest) {
  const path = pathOf(request);
  return findContract(formatsByPath.find(([pattern]) => pattern.test(path))?.[1] ?? '');
}

/** What the headers and the path of a request tell besides its body. */
function contextOf(request: CapturedRequest): CheckContext {
  const path = pathOf(request);
  return {
    endpoint: path.endsWith('/count_tokens') ? 'count-tokens' : 'messages',
    model: /\/models\/([^:/]+):/.exec(path)?.[1],
    apiVersion: request.headers['anthropic-version'],
    betas: request.headers['anthropic-beta']?.split(',').map((beta) => beta.trim()),
  };
}

const captured = capturedRequests();
const isMissing = captured.length === 0;

describe.skipIf(isMissing)(
  `requests that agent clients have sent${isMissing ? ` (skipped: ${capturesAreMissing})` : ''}`,
  () => {
    it('are there, and each has a contract', () => {
      expect(captured.length).toBeGreaterThan(0);
      expect(captured.filter((request) => contractOf(request) === undefined)).toEqual([]);
    });

    it.each(captured)('$file is legal by its headers and path', (request) => {
      expect(contractOf(request)?.check(request.body, contextOf(request))).toEqual([]);
    });

    it.each(captured)('$file is legal by its body alone', ({ body, ...request }) => {
      const violations = contractOf({ body, ...request })?.check(body);

      expect(violations?.filter(({ severity }) => severity !== 'info')).toEqual([]);
    });

    it.each(captured)('$file is legal as a bare list', ({ body, ...request }) => {
      expect(contractOf({ body, ...request })?.check(body, { scope: 'messages' })).toEqual([]);
    });
  },
);

const ask = { role: 'user', content: [{ type: 'text', text: 'What is in notes.txt?' }] };
const note = { role: 'system', content: 'Two more tools can be loaded.' };
const call = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'I look.', signature: 'c2ln' },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'notes.txt' } },
  ],
};
const result = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Low tide at six.' }],
};
const tools = [{ name: 'read', description: 'Reads.', input_schema: { type: 'object', properties: {} } }];

/** The shape of a turn of a coding agent that clears thinking and speaks in system messages. */
const agentTurn = {
  model: 'claude-opus-4-8',
  max_tokens: 64_000,
  system: [{ type: 'text', text: 'You help.', cache_control: { type: 'ephemeral' } }],
  tools,
  metadata: { user_id: 'one' },
  thinking: { type: 'adaptive' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'high' },
  stream: true,
  messages: [ask, note, call, result, note],
};
const agentHeaders: CheckContext = {
  endpoint: 'messages',
  apiVersion: '2023-06-01',
  betas: [
    'interleaved-thinking-2025-05-14',
    'context-management-2025-06-27',
    'mid-conversation-system-2026-04-07',
  ],
};

const instructed = { type: 'message', id: 'msg_1', role: 'developer', content: 'You help.' };
const asked = { type: 'message', id: 'msg_2', role: 'user', content: 'What is in notes.txt?' };
const thought = { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'gAAA' };
const called = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: '{}' };
const answered = { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'Low tide at six.' };
const trigger = { type: 'compaction_trigger' };
const withoutId = ({ id: _id, ...item }: { readonly id: string }) => item;

/** The shape of a request that keeps nothing on the server. */
const stateless = { model: 'gpt-5.5', store: false, include: ['reasoning.encrypted_content'], stream: true };

describe('the shapes that agent clients send', () => {
  it.each([
    {
      why: 'system messages among the others and last, and thinking cleared',
      format: 'anthropic-messages',
      body: agentTurn,
      context: agentHeaders,
    },
    {
      why: 'a fragment whose tokens are to be counted',
      format: 'anthropic-messages',
      body: { model: 'claude-opus-4-8', messages: [{ role: 'user', content: 'foo' }], tools },
      context: { ...agentHeaders, endpoint: 'count-tokens' } as const,
    },
    {
      why: 'a compaction trigger as the last item',
      format: 'openai-responses',
      body: { ...stateless, input: [instructed, asked, thought, called, answered, trigger] },
    },
    {
      why: 'reasoning without an id before items without ids',
      format: 'openai-responses',
      body: {
        ...stateless,
        input: [
          { role: 'developer', content: 'You help.' },
          { role: 'user', content: [{ type: 'input_text', text: 'What is in notes.txt?' }] },
          withoutId(thought),
          { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }], phase: 'commentary' },
          withoutId(called),
          withoutId(answered),
        ],
      },
    },
  ])('accepts $why', ({ format, body, context }) => {
    expect(findContract(format)?.check(body, context)).toEqual([]);
  });

  it.each([
    {
      why: 'a system message between a call and its result',
      rule: 'system-message-misplaced',
      format: 'anthropic-messages',
      body: { ...agentTurn, messages: [ask, call, note, result] },
      context: agentHeaders,
    },
    {
      why: 'thinking cleared without the beta header',
      rule: 'unknown-field',
      format: 'anthropic-messages',
      body: agentTurn,
      context: { ...agentHeaders, betas: [] },
    },
    {
      why: 'a compaction trigger before the last item',
      rule: 'compaction-trigger-not-last',
      format: 'openai-responses',
      body: {
        ...stateless,
        input: [asked, trigger, asked].map((item, index) => ({ ...item, id: `msg_${index}` })),
      },
    },
    {
      why: 'reasoning with an id before items without ids',
      rule: 'reasoning-without-following-item',
      format: 'openai-responses',
      body: { ...stateless, input: [asked, thought, withoutId(called), withoutId(answered)] },
    },
  ])('still refuses $why', ({ rule, format, body, context }) => {
    expect(
      findContract(format)
        ?.check(body, context)
        .map((violation) => violation.rule),
    ).toEqual([rule]);
  });
});
