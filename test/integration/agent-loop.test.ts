import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compaction/compactor.ts';
import { textOf } from '../../src/conversation/message.ts';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import { readConversation } from '../../src/formats/registry.ts';
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
const toolNames = ['probe', 'gauge'];
const schema = { type: 'object' as const, properties: { gauge: { type: 'number' as const } } };

/** How far a loop came, and the error that ended it. */
interface Life {
  readonly rounds: number;
  readonly error: unknown;
  readonly messages: readonly unknown[];
}

/** A client of one API in a loop. */
interface Agent {
  readonly title: string;
  /** Whether its API wants the model's reasoning back. */
  readonly returnsReasoning: boolean;
  run(isCompacting: boolean): Promise<Life>;
}

/** What is the same for every API. */
const question = { role: 'user' as const, content: 'Watch the tide. Never open the valve.' };

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ windowTokens: WINDOW, script: tireless });
});
afterEach(() => simulator.close());

/** An agent that asks with `step` for the answer and the results of its calls until it is refused. */
function agent<Message>(
  { title, model, returnsReasoning }: Pick<Agent, 'title' | 'returnsReasoning'> & { readonly model: string },
  step: (messages: (Message | typeof question)[]) => Promise<readonly Message[]>,
): Agent {
  return {
    title: `${title} with ${model}`,
    returnsReasoning,
    async run(isCompacting) {
      const compactor = createCompactor({ model, windowTokens: WINDOW });
      let messages: (Message | typeof question)[] = [question];
      for (let round = 0; round < ROUNDS; round++) {
        try {
          if (isCompacting) ({ value: messages } = await compactor.maybeCompact(messages));
          messages = [...messages, ...(await step(messages))];
        } catch (error) {
          return { rounds: round, error, messages };
        }
      }
      return { rounds: ROUNDS, error: undefined, messages };
    },
  };
}

function anthropicAgent(model: string, thinking: Anthropic.ThinkingConfigParam): Agent {
  const tools = toolNames.map((name) => ({ name, description: 'reads a gauge', input_schema: schema }));
  const about = { title: 'the Anthropic client', model, returnsReasoning: true };
  return agent<Anthropic.MessageParam>(about, async (messages) => {
    const client = new Anthropic({ apiKey: 'test', baseURL: simulator.url, maxRetries: 0 });
    const { content } = await client.messages.create({ model, max_tokens: 2000, thinking, tools, messages });
    const results = content
      .filter((block) => block.type === 'tool_use')
      .map(({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: reading((input as { gauge: unknown }).gauge),
      }));
    return [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ];
  });
}

const openai = () => new OpenAI({ apiKey: 'test', baseURL: `${simulator.url}/v1`, maxRetries: 0 });

function chatAgent(model: string): Agent {
  const tools = toolNames.map((name) => ({
    type: 'function' as const,
    function: { name, parameters: schema },
  }));
  const about = { title: 'the OpenAI client, Chat Completions', model, returnsReasoning: false };
  return agent<OpenAI.ChatCompletionMessageParam>(about, async (messages) => {
    const answer = await openai().chat.completions.create({ model, tools, messages });
    const { message } = answer.choices[0]!;
    const results = (message.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: reading(id),
    }));
    return [message, ...results];
  });
}

/** Nothing is stored: every thought goes back encrypted, under its id, in front of what followed it. */
function responsesAgent(model: string): Agent {
  const tools = toolNames.map((name) => ({
    type: 'function' as const,
    name,
    parameters: schema,
    strict: false,
  }));
  const about = { title: 'the OpenAI client, Responses', model, returnsReasoning: true };
  return agent<OpenAI.Responses.ResponseInputItem>(about, async (input) => {
    const { output } = await openai().responses.create({
      model,
      input,
      tools,
      store: false,
      include: ['reasoning.encrypted_content'],
      parallel_tool_calls: true,
    });
    const results = output
      .filter((item) => item.type === 'function_call')
      .map((call) => ({
        type: 'function_call_output' as const,
        call_id: call.call_id,
        output: reading(call.arguments),
      }));
    return [...(output as OpenAI.Responses.ResponseInputItem[]), ...results];
  });
}

const firstText = (messages: unknown) => {
  const block = readConversation(messages).messages[0]?.blocks[0];
  return block === undefined ? undefined : textOf(block);
};

const blockTypes = (body: unknown) =>
  readConversation(body).messages.flatMap(({ blocks }) => blocks.map(({ type }) => type));

describe.each([
  anthropicAgent('claude-opus-4-5', { type: 'enabled', budget_tokens: 1024 }),
  anthropicAgent('claude-opus-5-5', { type: 'adaptive' }),
  chatAgent('gpt-4o'),
  responsesAgent('gpt-5'),
])('$title', ({ run, returnsReasoning }) => {
  it(`lives through ${ROUNDS} rounds in a small window with maybeCompact, without one refusal`, async () => {
    const { rounds, error, messages } = await run(true);

    expect(error).toBeUndefined();
    expect(rounds).toBe(ROUNDS);
    // The question stands first, alone or in front of the summary where two messages of the user may not be neighbours.
    expect(firstText(messages)).toBe(question.content);
    expect(messages.length).toBeLessThan(ROUNDS);
    expect(simulator.requests.map(({ status }) => status)).toEqual(Array(ROUNDS).fill(200));
    const types = blockTypes(simulator.requests.at(-1)!.body);
    expect(types.includes('reasoning')).toBe(returnsReasoning);
    expect(types.join(' ')).toContain('tool-call tool-call');
  });

  it('dies of prompt-too-long without it', async () => {
    const { rounds, error } = await run(false);

    expect(rounds).toBeLessThan(ROUNDS);
    expect(parseOverflow(error)?.kind).toBe('prompt-too-long');
  });
});
