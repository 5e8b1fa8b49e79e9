import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { withRoundfold } from '../../src/proxy/fetch.ts';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { type Proxied, resultText, startProxied, untilResults } from '../support/proxied.ts';

const running: Proxied[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

async function start(...given: Parameters<typeof startProxied>): Promise<Proxied> {
  const started = await startProxied(...given);
  running.push(started);
  return started;
}

const ROUNDS = 300;
const WINDOW = 32_000;

const parameters = {
  type: 'object' as const,
  properties: { path: { type: 'string' } },
  required: ['path'],
};

/** Works until the model calls no more tools, as any agent does; how often it asked. */
async function workWithAnthropic(client: Anthropic): Promise<number> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Read all files and report.' }];
  for (let turn = 1; ; turn++) {
    const stream = client.messages.stream({
      model: 'claude-sonnet-4-6',
      max_tokens: 2000,
      system: 'You are a careful agent.',
      tools: [{ name: 'read_file', description: 'Reads a file.', input_schema: parameters }],
      messages,
    });
    const answer = await stream.finalMessage();
    const { content } = answer;
    messages.push({ role: 'assistant', content });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return turn;
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: resultText(id) })),
    });
  }
}

async function workWithChat(client: OpenAI): Promise<number> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are a careful agent.' },
    { role: 'user', content: 'Read all files and report.' },
  ];
  for (let turn = 1; ; turn++) {
    const stream = client.chat.completions.stream({
      model: 'gpt-4.1',
      max_completion_tokens: 2000,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'read_file', parameters } }],
      messages,
    });
    const [choice] = (await stream.finalChatCompletion()).choices;
    const message = choice!.message;
    messages.push(message);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return turn;
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: resultText(id) });
  }
}

async function workWithResponses(client: OpenAI): Promise<number> {
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { role: 'user', content: 'Read all files and report.' },
  ];
  for (let turn = 1; ; turn++) {
    const stream = client.responses.stream({
      model: 'gpt-5',
      max_output_tokens: 2000,
      store: false,
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', name: 'read_file', parameters, strict: false }],
      input,
    });
    const { output } = await stream.finalResponse();
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
    const calls = output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return turn;
    for (const { call_id } of calls)
      input.push({ type: 'function_call_output', call_id, output: resultText(call_id) });
  }
}

type Fetch = typeof globalThis.fetch;

const clients = [
  {
    name: 'the Anthropic SDK',
    work: (url: string, fetch?: Fetch) =>
      workWithAnthropic(new Anthropic({ baseURL: url, apiKey: 'test', maxRetries: 0, fetch })),
  },
  {
    name: 'the OpenAI SDK, Chat Completions',
    work: (url: string, fetch?: Fetch) =>
      workWithChat(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'test', maxRetries: 0, fetch })),
  },
  {
    name: 'the OpenAI SDK, Responses',
    work: (url: string, fetch?: Fetch) =>
      workWithResponses(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'test', maxRetries: 0, fetch })),
  },
];

function expectFoldedWork(records: readonly ExchangeRecord[], simulator: Simulator): void {
  expect(records.map(({ httpStatus }) => httpStatus).filter((status) => status !== 200)).toEqual([]);
  expect(simulator.requests.filter(({ status }) => status !== 200)).toEqual([]);
  const folded = records.filter(({ status }) => status === 'folded');
  expect(folded.length).toBeGreaterThan(ROUNDS / 2);
  expect(folded.every(({ tokensReceived = 0, tokensSent = 0 }) => tokensSent < tokensReceived)).toBe(true);
  expect(records.filter(({ status }) => status === 'passed')).toEqual([]);
  expect(records.every(({ usage }) => (usage?.promptTokens ?? 0) > 0)).toBe(true);
}

describe.each(clients)('$name works 300 rounds in a window of 32,000 tokens', ({ work }) => {
  it('through the proxy, streamed and with parallel calls', async () => {
    const { proxy, simulator, records } = await start(
      { windowTokens: WINDOW, script: untilResults(ROUNDS) },
      { windowTokens: WINDOW },
    );
    expect(await work(proxy.url)).toBe(ROUNDS + 1);
    expectFoldedWork(records, simulator);
  });

  it('through a wrapped fetch, streamed and with parallel calls', async () => {
    const simulator = await startSimulator({ windowTokens: WINDOW, script: untilResults(ROUNDS) });
    const records: ExchangeRecord[] = [];
    const wrapped = withRoundfold(fetch, {
      windowTokens: WINDOW,
      observer: { exchange: (record) => records.push(record) },
    });
    expect(await work(simulator.url, wrapped)).toBe(ROUNDS + 1);
    await simulator.close();
    expectFoldedWork(records, simulator);
  });
});
