import { createAnthropic } from '@ai-sdk/anthropic';
import {
  convertToModelMessages,
  generateText,
  jsonSchema,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
  validateUIMessages,
  wrapLanguageModel,
} from 'ai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compaction/compactor.ts';
import { compactionMiddleware, compactStep } from '../../src/integrations/ai-sdk.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';

const WINDOW = 32_000;
const ROUNDS = 120;
const model = 'claude-opus-4-5';
const TASK = 'Read all gauges. Never open valve 7.';

/** Calls the tool until enough was read since the last question; two at once now and then. */
const script: Script = ({ number, thinks, tools }) => ({
  parts: [
    ...(thinks ? [{ type: 'thinking' as const, text: `Gauge ${number} is next.` }] : []),
    { type: 'text', text: `Gauge ${number}.` },
    ...(number % ROUNDS === 0 ? [] : tools)
      .concat(number % 7 === 0 ? tools : [])
      .map(({ name }) => ({ type: 'tool-call' as const, name, input: { gauge: number } })),
  ],
});

const tools = {
  gauge: tool({
    description: 'reads a gauge',
    inputSchema: jsonSchema<{ gauge: number }>({ type: 'object', properties: { gauge: { type: 'number' } } }),
    execute: ({ gauge }) => `gauge ${gauge}: ${'level 312.4 cm, rising slowly, sensor fine; '.repeat(30)}`,
  }),
};

let simulator: Simulator;
let compactions: number;
const options = {
  model,
  windowTokens: WINDOW,
  onEvent: (event: { readonly type: string; readonly outcome?: { readonly status: string } }) => {
    if (event.type === 'compaction-end' && event.outcome?.status === 'compacted') compactions++;
  },
};

beforeEach(async () => {
  compactions = 0;
  simulator = await startSimulator({ windowTokens: WINDOW, script });
});
afterEach(() => simulator.close());

const provider = () => createAnthropic({ apiKey: 'test', baseURL: `${simulator.url}/v1` })(model);
const thinking = {
  providerOptions: { anthropic: { thinking: { type: 'enabled' as const, budgetTokens: 1024 } } },
};
const common = { system: 'You watch a harbour.', tools, maxRetries: 0, stopWhen: stepCountIs(2 * ROUNDS) };
const bodies = () => simulator.requests.map(({ body }) => body as { messages: readonly unknown[] });

/** How often the beginning of a request was another than that of the one before. */
function rewrites(): number {
  const all = bodies().map(({ messages }) => messages.map((message) => withoutMarkers(message)));
  return all.filter((messages, index) => {
    const before = all[index - 1] ?? [];
    return before.some((message, place) => message !== messages[place]);
  }).length;
}

const withoutMarkers = (message: unknown) =>
  JSON.stringify(message, (key, value: unknown) => (key === 'cache_control' ? undefined : value));

function expectLife(requests: number): void {
  expect(simulator.requests.map(({ status }) => status)).toEqual(Array(requests).fill(200));
  expect(compactions).toBeGreaterThan(2);
  // What was compacted stays as it is until the next compaction: the prompt cache keeps hitting.
  expect(rewrites()).toBe(compactions);
  for (const body of bodies()) expect(JSON.stringify(body.messages[0])).toContain(TASK);
}

describe('compactStep', () => {
  it('keeps generateText in its window through all steps, with thinking, and leaves the result whole', async () => {
    const { steps, response } = await generateText({
      ...common,
      ...thinking,
      model: provider(),
      prompt: TASK,
      prepareStep: compactStep(options),
    });

    expect(steps).toHaveLength(ROUNDS);
    expect(response.messages.length).toBe(2 * ROUNDS - 1);
    expectLife(ROUNDS);
  });

  it('keeps streamText in its window, call after call, with one function for all of them', async () => {
    const prepareStep = compactStep(options);
    let messages: ModelMessage[] = [{ role: 'user', content: TASK }];
    for (let call = 0; call < 2; call++) {
      const { response } = streamText({ ...common, model: provider(), messages, prepareStep });
      // A program stores what was said and reads it again.
      messages = JSON.parse(JSON.stringify([...messages, ...(await response).messages])) as ModelMessage[];
      messages.push({ role: 'user', content: 'Once more.' });
    }

    expectLife(2 * ROUNDS);
  });

  it('without it the same loop ends with a prompt that is too long', async () => {
    await expect(generateText({ ...common, model: provider(), prompt: TASK })).rejects.toThrow('too long');
  });

  it('takes a compactor, and says nothing while there is room', async () => {
    const compactor = createCompactor(options);
    const prepareStep = compactStep(compactor);

    expect(await prepareStep({ messages: [{ role: 'user', content: TASK }], steps: [] })).toBeUndefined();
    await generateText({ ...common, model: provider(), prompt: TASK, prepareStep });
    expectLife(ROUNDS);
  });

  it('believes the provider that instructions and tools take room, and counts what tools returned since', async () => {
    const rounds = Array.from({ length: 24 }, (_, index): ModelMessage[] => {
      const call = { toolCallId: `call_${index}`, toolName: 'gauge' };
      const output = { type: 'text' as const, value: 'level 312.4 cm, rising slowly; '.repeat(40) };
      return [
        { role: 'assistant', content: [{ type: 'tool-call', ...call, input: { gauge: index } }] },
        { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
      ];
    });
    const messages: ModelMessage[] = [{ role: 'user', content: TASK }, ...rounds.flat()];
    const prepareStep = compactStep(options);
    const { triggerTokens } = createCompactor(options).thresholds;
    const ask = (inputTokens: number | undefined) =>
      prepareStep({ messages, steps: [{ usage: { inputTokens, outputTokens: 10 } }] });

    // By its own count it is far from full, and the report is of the time before the last result.
    expect(await ask(undefined)).toBeUndefined();
    expect(await ask(triggerTokens - 2000)).toBeUndefined();
    expect(await ask(triggerTokens - 200)).toBeDefined();
  });
});

describe('compactionMiddleware', () => {
  it('keeps every prompt of a model in its window, whoever asks', async () => {
    const wrapped = wrapLanguageModel({ model: provider(), middleware: compactionMiddleware(options) });
    const { steps } = await generateText({ ...common, ...thinking, model: wrapped, prompt: TASK });

    expect(steps).toHaveLength(ROUNDS);
    expectLife(ROUNDS);
  });

  it('gives the very same call back while there is room', async () => {
    const params = { prompt: [{ role: 'user', content: [{ type: 'text', text: TASK }] }], temperature: 0 };

    expect(await compactionMiddleware(options).transformParams({ params })).toBe(params);
  });
});

describe('UI messages', () => {
  const answer = (id: number): UIMessage => ({
    id: `a${id}`,
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      { type: 'text', text: `Gauge ${id}.`, state: 'done' },
      {
        type: 'tool-gauge',
        toolCallId: `call_${id}`,
        state: 'output-available',
        input: { gauge: id },
        output: `gauge ${id}: ${'level 312.4 cm, rising slowly; '.repeat(40)}`,
      },
    ],
  });
  const chat = Array.from({ length: 80 }, (_, id): UIMessage[] => [
    { id: `u${id}`, role: 'user', parts: [{ type: 'text', text: id === 0 ? TASK : `And gauge ${id}?` }] },
    answer(id),
  ]).flat();

  it('go in and out of a compactor, and the SDK takes what comes out', async () => {
    const compactor = createCompactor(options);
    const { value, outcome } = await compactor.maybeCompact(chat);

    expect(outcome.status).toBe('compacted');
    expect(value.length).toBeLessThan(chat.length / 2);
    expect(value[0]).toBe(chat[0]);
    expect(value.at(-1)).toBe(chat.at(-1));
    await validateUIMessages({ messages: value });
    const messages = await convertToModelMessages(value);
    await generateText({ ...common, model: provider(), messages, stopWhen: stepCountIs(1) });
    expect(simulator.requests.map(({ status }) => status)).toEqual([200]);
    expect((await compactor.maybeCompact(value)).value).toBe(value);
  });
});
