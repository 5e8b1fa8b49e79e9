import { afterEach, describe, expect, it } from 'vitest';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import { readConversation } from '../../src/formats/registry.ts';
import { modelSummarizer } from '../../src/memory/model/model.ts';
import type { Completion, CompletionRequest, ModelClient } from '../../src/memory/model/model-client.ts';
import { anthropicClient } from '../../src/providers/anthropic.ts';
import type { HttpClientOptions } from '../../src/providers/http.ts';
import { openaiClient } from '../../src/providers/openai.ts';
import type { FaultName } from '../../src/simulator/faults.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';

const summary = '<summary>\nSTORY\nThe user said "Read the gauges of Brest – all of them 🙂."\n</summary>';
const speaking: Script = ({ thinks }) => ({
  parts: [...(thinks ? [{ type: 'thinking' as const, text: 'hm' }] : []), { type: 'text', text: summary }],
});
const question: CompletionRequest = { system: 'be brief', prompt: 'sum it up', maximumOutputTokens: 500 };

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ script: speaking, now: () => 0, ...options });
  running.push(simulator);
  return simulator;
}

/** Sends what the client sends, asking for a stream all the same: a server that always streams. */
const streamingAnyway: typeof fetch = (url, init) => {
  const body = { ...(JSON.parse(String(init?.body)) as object), stream: true };
  return fetch(url, { ...init, body: JSON.stringify(body) });
};

interface Subject {
  readonly name: string;
  readonly create: (options: HttpClientOptions) => ModelClient;
  readonly model: string;
  readonly stem: string;
  /** Whether a stream reports the prompt's usage at its very start. */
  readonly reportsEarly: boolean;
}

const subjects: readonly Subject[] = [
  {
    name: 'anthropicClient',
    create: anthropicClient,
    model: 'claude-opus-4-5',
    stem: '',
    reportsEarly: true,
  },
  { name: 'openaiClient', create: openaiClient, model: 'gpt-4o', stem: '/v1', reportsEarly: false },
];

describe.each(subjects)('$name', ({ create, model, stem, reportsEarly }) => {
  const clientOf = (simulator: Simulator, options: Partial<HttpClientOptions> = {}) =>
    create({ model, apiKey: 'test-key', baseUrl: `${simulator.url}${stem}`, ...options });

  const complete = async (options: SimulatorOptions, client: Partial<HttpClientOptions> = {}) =>
    clientOf(await start(options), client).complete(question);

  it.each<{ title: string; faults: readonly FaultName[] }>([
    { title: 'event by event', faults: [] },
    { title: 'a few bytes at a time', faults: ['hostile-chunks'] },
    { title: 'with CRLF', faults: ['crlf', 'hostile-chunks'] },
  ])('reads the same answer from one piece and from a stream, $title', async ({ faults }) => {
    const plain = await complete({});
    const streamed = await complete({ faults: faults.map((name) => ({ name })) }, { streams: true });

    expect(plain).toMatchObject({ text: summary, stop: 'end', usage: { outputTokens: expect.any(Number) } });
    expect(streamed).toEqual(plain);
  });

  it('reads the same answer from a server that streams unasked', async () => {
    const { usage, ...plain } = await complete({});
    const streamed = await complete({}, { fetch: streamingAnyway });

    expect(streamed).toMatchObject(plain);
    if (reportsEarly) expect(streamed.usage).toEqual(usage);
  });

  it('never takes a stream for whole that was cut off, wherever it was cut', async () => {
    const simulator = await start();
    let bytes = new Uint8Array();
    const whole = await clientOf(simulator, {
      streams: true,
      async fetch(url, init) {
        bytes = new Uint8Array(await (await fetch(url, init)).arrayBuffer());
        return new Response(bytes);
      },
    }).complete(question);
    const cutAt = (length: number): Promise<Completion | RoundfoldError> => {
      const chunks = [bytes.subarray(0, length)];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const chunk = chunks.pop();
          if (chunk === undefined) controller.error(new Error('connection reset'));
          else controller.enqueue(chunk);
        },
      });
      const client = clientOf(simulator, { fetch: async () => new Response(body) });
      return client.complete(question).catch((error: unknown) => {
        if (RoundfoldError.is(error)) return error;
        throw error;
      });
    };

    const seen = new Set<string>();
    for (let length = 0; length < bytes.length; length += 3) {
      const outcome = await cutAt(length);
      if (RoundfoldError.is(outcome)) {
        seen.add(outcome.code);
        continue;
      }
      seen.add(outcome.stop);
      expect(summary.startsWith(outcome.text)).toBe(true);
      if (outcome.stop === 'end') expect(outcome.text).toBe(whole.text);
      if (reportsEarly) expect(outcome.usage?.promptTokens).toBe(whole.usage?.promptTokens);
    }
    expect([...seen].toSorted()).toEqual(['end', 'other', 'upstream']);
  });

  it('takes a stream that fails on the way for a failure, with what was spent', async () => {
    const error = await errorOf(complete({ faults: [{ name: 'error-after-start' }] }, { streams: true }));

    expect(error.message).toContain('Overloaded');
    const { usage } = error.cause as { readonly usage?: unknown };
    expect(usage).toEqual(reportsEarly ? { promptTokens: expect.any(Number), outputTokens: 1 } : undefined);
  });

  it('lets an overflow be read from a stream that had begun', async () => {
    const error = await errorOf(complete({ faults: [{ name: 'response-failed' }] }, { streams: true }));

    expect(parseOverflow(error.cause)).toMatchObject({ kind: 'prompt-too-long' });
  });

  it('takes an empty stream for a failure', async () => {
    const error = await errorOf(complete({ faults: [{ name: 'empty-stream' }] }, { streams: true }));

    expect(error.code).toBe('upstream');
  });
});

async function errorOf(work: Promise<unknown>): Promise<RoundfoldError> {
  const error: unknown = await work.catch((reason: unknown) => reason);
  if (!RoundfoldError.is(error)) throw new Error('a RoundfoldError was expected', { cause: error });
  return error;
}

const result = 'level 312.4 cm, rising slowly, sensor fine; '.repeat(20);
const wish = { role: 'user', content: 'Read the gauges of Brest – all of them 🙂.' };
const mark = { type: 'ephemeral' };
const rounds = 12;

/** An agent that calls a tool until it is asked for a summary. */
const summarizing: Script = (turn) => {
  const asked = JSON.stringify(turn.conversation.messages.at(-1)?.raw).includes('Text only');
  if (asked) return speaking(turn);
  return { parts: [{ type: 'tool-call', name: 'gauge', input: { number: turn.number } }] };
};

type Raw = Readonly<Record<string, unknown>>;

/** How one provider is spoken to, and what it says about its cache. */
interface Dialect {
  readonly path: string;
  readonly client: (options: HttpClientOptions) => ModelClient;
  readonly stem: string;
  readonly tools: readonly Raw[];
  /** The answer and the result of its call. */
  answered(answer: Raw): readonly Raw[];
  cachedTokens(usage: Raw): number;
}

const anthropic: Dialect = {
  path: '/v1/messages',
  client: anthropicClient,
  stem: '',
  tools: [{ name: 'gauge', description: 'reads a gauge', input_schema: { type: 'object' } }],
  answered({ content }) {
    const calls = (content as Raw[]).filter(({ type }) => type === 'tool_use');
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result }));
    return [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ];
  },
  cachedTokens: (usage) => usage['cache_read_input_tokens'] as number,
};

const chat: Dialect = {
  path: '/v1/chat/completions',
  client: openaiClient,
  stem: '/v1',
  tools: [{ type: 'function', function: { name: 'gauge', parameters: { type: 'object' } } }],
  answered({ choices }) {
    const { message } = (choices as { message: { tool_calls: { id: string }[] } }[])[0]!;
    const results = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result }));
    return [message, ...results];
  },
  cachedTokens: (usage) => (usage['prompt_tokens_details'] as { cached_tokens: number }).cached_tokens,
};

/** The newest messages carry a marker, so many of them; the ones before have lost theirs. */
const markNewest =
  (count: number) =>
  (messages: readonly Raw[]): readonly Raw[] =>
    messages.map((message, index) => {
      if (index < messages.length - count) return message;
      const { content } = message;
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Raw[]);
      return { ...message, content: [...blocks.slice(0, -1), { ...blocks.at(-1), cache_control: mark }] };
    });

interface CacheRow {
  readonly title: string;
  readonly dialect: Dialect;
  readonly frame: Raw;
  readonly marked?: (messages: readonly Raw[]) => readonly Raw[];
}

const claude = { model: 'claude-opus-5', max_tokens: 2000, system: 'Watch the tide.' };
const systemMarked = { system: [{ type: 'text', text: 'Watch the tide.', cache_control: mark }] };

describe('a summary behind the same prefix', () => {
  /** Plays the loop, summarises all but the newest messages, and tells what the provider found in its cache. */
  async function summarizeAfterLoop(
    { dialect, frame, marked = (messages) => messages }: CacheRow,
    script: Script,
  ) {
    const simulator = await start({ script });
    const headers = { authorization: 'Bearer test', 'x-api-key': 'test', 'anthropic-version': '2023-06-01' };
    const bodyOf = (messages: readonly Raw[]) => ({
      ...frame,
      tools: dialect.tools,
      messages: marked(messages),
    });
    let messages: readonly Raw[] = [wish];
    for (let round = 0; round < rounds; round++) {
      const body = JSON.stringify(bodyOf(messages));
      const response = await fetch(`${simulator.url}${dialect.path}`, { method: 'POST', headers, body });
      messages = [...messages, ...dialect.answered((await response.json()) as Raw)];
    }

    const usages: Raw[] = [];
    const recording: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      usages.push(((await response.clone().json()) as { usage: Raw }).usage);
      return response;
    };
    const conversation = readConversation(bodyOf(messages));
    const covered = conversation.messages.slice(0, 2 * rounds - 5);
    const client = dialect.client({
      model: String(frame['model']),
      apiKey: 'test',
      baseUrl: `${simulator.url}${dialect.stem}`,
      fetch: recording,
    });
    const outcome = await modelSummarizer(client, {
      overflowOf: parseOverflow,
      reusesPrefix: true,
    }).summarize({
      messages: covered,
      conversation,
      previousSummary: undefined,
      instructions: undefined,
      maximumTokens: 800,
      estimator: createTokenEstimator(),
      signal: undefined,
    });
    const listOf = (body: unknown) => (body as { messages: readonly unknown[] }).messages;
    const earlier = simulator.requests.find(({ body }) => listOf(body).length === covered.length);
    return {
      outcome,
      usages,
      cached: usages.map((usage) => dialect.cachedTokens(usage)),
      /** Tokens of the request that ended where the prefix ends. */
      prefixTokens: earlier!.promptTokens!,
      lastRequest: simulator.requests.at(-1)!,
    };
  }

  it.each<CacheRow>([
    { title: 'a marker on the newest message', dialect: anthropic, frame: claude, marked: markNewest(1) },
    {
      title: 'markers on the system prompt and the two newest messages',
      dialect: anthropic,
      frame: { ...claude, ...systemMarked },
      marked: markNewest(2),
    },
    {
      title: 'a marker for the whole request',
      dialect: anthropic,
      frame: { ...claude, cache_control: mark },
    },
    {
      title: 'a choice of tools and thinking',
      dialect: anthropic,
      frame: {
        ...claude,
        model: 'claude-opus-5-5',
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        thinking: { type: 'adaptive' },
        output_config: { effort: 'high' },
      },
      marked: markNewest(1),
    },
  ])('reads all of it from the cache of Anthropic: $title', async (row) => {
    const { outcome, cached, prefixTokens, lastRequest } = await summarizeAfterLoop(row, summarizing);

    expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: 'summarized' });
    expect(lastRequest.status).toBe(200);
    expect(prefixTokens).toBeGreaterThan(1000);
    expect(cached).toEqual([prefixTokens]);
  });

  it('reads all of it from the cache of OpenAI, in steps of 128', async () => {
    const row = { title: '', dialect: chat, frame: { model: 'gpt-4o' } };
    const { outcome, cached, prefixTokens } = await summarizeAfterLoop(row, summarizing);

    expect(outcome).toMatchObject({ status: 'summarized' });
    expect(cached).toEqual([prefixTokens - (prefixTokens % 128)]);
    expect(prefixTokens).toBeGreaterThan(1024);
  });

  it('asks again without tools when the model calls one, and counts both calls', async () => {
    let calls = 0;
    const stubborn: Script = (turn) => {
      if (turn.tools.length > 0)
        return { parts: [{ type: 'tool-call', name: 'gauge', input: { call: calls++ } }] };
      return speaking(turn);
    };
    const row = { title: '', dialect: anthropic, frame: claude, marked: markNewest(1) };
    const { outcome, usages, cached, prefixTokens } = await summarizeAfterLoop(row, stubborn);

    expect(outcome).toMatchObject({ status: 'summarized' });
    expect(cached).toEqual([prefixTokens, 0]);
    const spent = usages.map(
      (usage) => (usage['input_tokens'] as number) + (usage['cache_creation_input_tokens'] as number),
    );
    expect(outcome.usage?.promptTokens).toBe(prefixTokens + spent[0]! + spent[1]!);
  });
});

describe('a summary over a stream that breaks', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'gauge', input: {} };
  const long = { type: 'tool_result', tool_use_id: 'toolu_1', content: result.repeat(20) };
  const conversation = readConversation({
    model: 'claude-opus-4-5',
    max_tokens: 9,
    messages: [wish, { role: 'assistant', content: [call] }, { role: 'user', content: [long] }],
  });
  const summarize = async (simulator: Simulator) =>
    modelSummarizer(
      anthropicClient({ model: 'claude-opus-4-5', apiKey: 'test', baseUrl: simulator.url, streams: true }),
      { overflowOf: parseOverflow },
    ).summarize({
      messages: conversation.messages,
      conversation,
      previousSummary: undefined,
      instructions: undefined,
      maximumTokens: 800,
      estimator: createTokenEstimator(),
      signal: undefined,
    });

  it('is truncated, and what was spent is counted', async () => {
    const simulator = await start({ faults: [{ name: 'cut-stream' }] });

    const outcome = await summarize(simulator);

    expect(outcome).toMatchObject({ status: 'failed', reason: 'truncated' });
    const sent = simulator.requests.reduce((sum, { promptTokens }) => sum + promptTokens!, 0);
    expect(outcome.usage?.promptTokens).toBe(sent);
  });

  it('has failed when the provider says so, and what was spent is counted', async () => {
    const simulator = await start({ faults: [{ name: 'error-after-start' }] });

    const outcome = await summarize(simulator);

    expect(outcome).toMatchObject({ status: 'failed', reason: 'upstream' });
    expect(outcome.usage?.promptTokens).toBe(simulator.requests[0]!.promptTokens);
  });

  it('is input-too-long when that is what the stream says', async () => {
    const simulator = await start({ faults: [{ name: 'response-failed' }] });

    expect(await summarize(simulator)).toMatchObject({ status: 'failed', reason: 'input-too-long' });
  });

  it('is written all the same when the second call comes through', async () => {
    const simulator = await start({ faults: [{ name: 'cut-stream', on: [1] }] });

    const outcome = await summarize(simulator);

    expect(outcome).toMatchObject({ status: 'summarized' });
    const sent = simulator.requests.map(({ promptTokens }) => promptTokens!);
    expect(sent).toHaveLength(2);
    expect(sent[1]!).toBeLessThan(sent[0]!);
    expect(outcome.usage?.promptTokens).toBe(sent[0]! + sent[1]!);
  });
});
