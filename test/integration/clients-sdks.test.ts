import { createAnthropic } from '@ai-sdk/anthropic';
import { type Content, FunctionCallingConfigMode, GoogleGenAI, type Part } from '@google/genai';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { withRoundfold } from '../../src/proxy/fetch.ts';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type RecordedRequest, startSimulator } from '../../src/simulator/simulator.ts';
import { type Proxied, resultText, startProxied, untilResults } from '../support/proxied.ts';

// Agents on the SDKs of Google and Vercel, for as long as their models have something to call.

const ROUNDS = 300;
const WINDOW = 32_000;
const TIMEOUT_MS = 120_000;
const parameters = {
  type: 'object' as const,
  properties: { path: { type: 'string' as const } },
  required: ['path'],
};
const running: Proxied[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

function expectFolds(records: readonly ExchangeRecord[], requests: readonly RecordedRequest[]): void {
  expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
  expect(records.filter(({ httpStatus }) => httpStatus !== 200)).toEqual([]);
  expect(records.filter(({ status }) => status === 'passed')).toEqual([]);
  expect(records.filter(({ status }) => status === 'folded').length).toBeGreaterThan(ROUNDS / 2);
  expect(Math.max(...requests.map(({ promptTokens = 0 }) => promptTokens))).toBeLessThan(WINDOW);
}

/** The same model, which thinks before it speaks where the request has it so. */
function thinking(script: Script): Script {
  return (turn) => {
    const { parts } = script(turn);
    return {
      parts: turn.thinks ? [{ type: 'thinking', text: `About turn ${turn.number}.` }, ...parts] : parts,
    };
  };
}

async function startBehind(): Promise<Proxied> {
  const proxied = await startProxied(
    { windowTokens: WINDOW, script: thinking(untilResults(ROUNDS)) },
    { windowTokens: WINDOW },
  );
  running.push(proxied);
  return proxied;
}

async function workWithGoogle(client: GoogleGenAI, model: string): Promise<number> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'Read all files and report.' }] }];
  const declaration = { name: 'read_file', description: 'Reads a file.', parametersJsonSchema: parameters };
  for (let turn = 1; ; turn++) {
    const parts: Part[] = [];
    const stream = await client.models.generateContentStream({
      model,
      contents,
      config: {
        systemInstruction: 'You are a careful agent.',
        maxOutputTokens: 2000,
        thinkingConfig: { includeThoughts: true },
        tools: [{ functionDeclarations: [declaration] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
      },
    });
    for await (const chunk of stream) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    contents.push({ role: 'model', parts });
    expect(parts[0]?.thought).toBe(true);
    expect(parts.some(({ thoughtSignature }) => thoughtSignature !== undefined)).toBe(true);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return turn;
    const results = calls.map(({ id, name = '', args }) => ({
      functionResponse: {
        ...(id === undefined ? {} : { id }),
        name,
        response: { output: resultText(JSON.stringify(args)) },
      },
    }));
    contents.push({ role: 'user', parts: results });
  }
}

describe.each(['gemini-2.5-pro', 'gemini-3.1-pro'])('the Google SDK with %s', (model) => {
  it(
    `works ${ROUNDS} rounds in a window of ${WINDOW} tokens: streamed, with thoughts, signatures and parallel calls`,
    async () => {
      const { proxy, simulator, records } = await startBehind();
      const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: proxy.url } });
      expect(await workWithGoogle(client, model)).toBe(ROUNDS + 1);
      expectFolds(records, simulator.requests);
    },
    TIMEOUT_MS,
  );
});

describe('the AI SDK', () => {
  async function work(baseURL: string, fetch?: typeof globalThis.fetch): Promise<string> {
    const anthropic = createAnthropic({
      baseURL: `${baseURL}/v1`,
      apiKey: 'any',
      ...(fetch ? { fetch } : {}),
    });
    const { text, finishReason } = streamText({
      model: anthropic('claude-sonnet-4-6'),
      prompt: 'Read all files and report.',
      maxOutputTokens: 2000,
      maxRetries: 0,
      stopWhen: stepCountIs(ROUNDS + 10),
      tools: {
        read_file: tool({
          description: 'Reads a file.',
          inputSchema: jsonSchema<{ path: string }>(parameters),
          execute: ({ path }) => resultText(path),
        }),
      },
    });
    expect(await finishReason).toBe('stop');
    return text;
  }

  it(
    `works ${ROUNDS} rounds through the proxy`,
    async () => {
      const { proxy, simulator, records } = await startBehind();
      expect(await work(proxy.url)).toBe(`All ${ROUNDS} rounds done.`);
      expectFolds(records, simulator.requests);
    },
    TIMEOUT_MS,
  );

  it(
    `works ${ROUNDS} rounds through a wrapped fetch`,
    async () => {
      const simulator = await startSimulator({ windowTokens: WINDOW, script: untilResults(ROUNDS) });
      const records: ExchangeRecord[] = [];
      const observer = { exchange: (record: ExchangeRecord) => void records.push(record) };
      const wrapped = withRoundfold(fetch, { windowTokens: WINDOW, observer });
      expect(await work(simulator.url, wrapped)).toBe(`All ${ROUNDS} rounds done.`);
      await simulator.close();
      expectFolds(records, simulator.requests);
    },
    TIMEOUT_MS,
  );
});
