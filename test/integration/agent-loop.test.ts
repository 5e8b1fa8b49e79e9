import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/config/compactor.ts';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';

const WINDOW = 32_000;
const ROUNDS = 300;

/** An agent that never rests: it thinks, speaks and calls tools, one or two at once. */
const tireless: Script = ({ number, tools, thinks, mayCallInParallel }) => ({
  parts: [
    ...(thinks
      ? [{ type: 'thinking' as const, text: `Step ${number}: the last reading looks plausible, go on.` }]
      : []),
    { type: 'text', text: `Reading gauge ${number}.` },
    ...tools
      .slice(0, number % 5 === 0 && mayCallInParallel ? 2 : 1)
      .map(({ name }) => ({ type: 'tool-call' as const, name, input: { gauge: number } })),
  ],
});

const reading = (gauge: unknown) =>
  `gauge ${String(gauge)}: ${'level 312.4 cm, rising slowly, sensor fine; '.repeat(12)}`;
const schema = { type: 'object' as const, properties: { gauge: { type: 'number' as const } } };

/** How far a loop came, and the error that ended it. */
interface Life {
  readonly rounds: number;
  readonly error: unknown;
  readonly messages: readonly unknown[];
}

/** With maybeCompact a loop lives and keeps its task; without it the same loop dies of prompt-too-long. */
function expectLife(run: (isCompacting: boolean) => Promise<Life>, question: unknown): void {
  it(`lives through ${ROUNDS} rounds in a small window with maybeCompact, without one refusal`, async () => {
    const { rounds, error, messages } = await run(true);

    expect(error).toBeUndefined();
    expect(rounds).toBe(ROUNDS);
    expect(messages[0]).toEqual(question);
  });

  it('dies of prompt-too-long without it', async () => {
    const { rounds, error } = await run(false);

    expect(rounds).toBeLessThan(ROUNDS);
    expect(parseOverflow(error)?.kind).toBe('prompt-too-long');
  });
}

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ windowTokens: WINDOW, script: tireless });
});
afterAll(() => simulator.close());

describe.each([
  { model: 'claude-opus-4-5', thinking: { type: 'enabled' as const, budget_tokens: 1024 } },
  { model: 'claude-opus-5-5', thinking: { type: 'adaptive' as const } },
])('the Anthropic client with $model', ({ model, thinking }) => {
  const tools = ['probe', 'gauge'].map((name) => ({
    name,
    description: 'reads a gauge',
    input_schema: schema,
  }));
  const question = { role: 'user' as const, content: 'Watch the tide. Never open the valve.' };

  async function run(isCompacting: boolean): Promise<Life> {
    const client = new Anthropic({ apiKey: 'test', baseURL: simulator.url, maxRetries: 0 });
    const compactor = createCompactor({ model, windowTokens: WINDOW });
    let messages: Anthropic.MessageParam[] = [question];
    for (let round = 0; round < ROUNDS; round++) {
      try {
        if (isCompacting) ({ value: messages } = await compactor.maybeCompact(messages));
        const answer = await client.messages.create({ model, max_tokens: 2000, thinking, tools, messages });
        const calls = answer.content.filter((block) => block.type === 'tool_use');
        const results = calls.map(({ id, input }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: reading((input as { gauge: unknown }).gauge),
        }));
        messages = [
          ...messages,
          { role: 'assistant', content: answer.content },
          { role: 'user', content: results },
        ];
      } catch (error) {
        return { rounds: round, error, messages };
      }
    }
    return { rounds: ROUNDS, error: undefined, messages };
  }

  expectLife(run, question);
});

describe('the OpenAI client', () => {
  const tools = ['probe', 'gauge'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters: schema },
  }));
  const question = { role: 'user' as const, content: 'Watch the tide. Never open the valve.' };

  async function run(isCompacting: boolean): Promise<Life> {
    const client = new OpenAI({ apiKey: 'test', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
    const compactor = createCompactor({ model: 'gpt-4o', windowTokens: WINDOW });
    let messages: OpenAI.ChatCompletionMessageParam[] = [question];
    for (let round = 0; round < ROUNDS; round++) {
      try {
        if (isCompacting) ({ value: messages } = await compactor.maybeCompact(messages));
        const answer = await client.chat.completions.create({ model: 'gpt-4o', tools, messages });
        const message = answer.choices[0]!.message;
        const results = (message.tool_calls ?? []).map((call) => ({
          role: 'tool' as const,
          tool_call_id: call.id,
          content: reading(call.id),
        }));
        messages = [...messages, message, ...results];
      } catch (error) {
        return { rounds: round, error, messages };
      }
    }
    return { rounds: ROUNDS, error: undefined, messages };
  }

  expectLife(run, question);
});
