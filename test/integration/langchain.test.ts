import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  isBaseMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { createAgent, tool } from 'langchain';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenaiChatModel } from '../../examples/support/openai-chat-model.ts';
import { createCompactor } from '../../src/compaction/compactor.ts';
import { compactionMiddleware, compactMessages } from '../../src/integrations/langchain.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';

const WINDOW = 32_000;
const ROUNDS = 60;
const model = 'gpt-4o';
const TASK = 'Read all gauges. Never open valve 7.';
const reading = (gauge: number) =>
  `gauge ${gauge}: ${'level 312.4 cm, rising slowly, sensor fine; '.repeat(60)}`;

function round(index: number, kind: typeof AIMessage | typeof AIMessageChunk = AIMessage): BaseMessage[] {
  const calls = [0, 1].slice(0, (index % 3) + 1).map((part) => ({
    id: `call_${index}_${part}`,
    name: 'gauge',
    args: { gauge: index },
    type: 'tool_call' as const,
  }));
  return [
    new kind({ id: `a${index}`, content: `Gauge ${index}.`, tool_calls: calls }),
    ...calls.map(({ id }) => new ToolMessage({ id: `t${id}`, tool_call_id: id, content: reading(index) })),
  ];
}

const session = (kind?: typeof AIMessage | typeof AIMessageChunk): BaseMessage[] => [
  new SystemMessage({ id: 's', content: 'You watch a harbour.' }),
  new HumanMessage({ id: 'h', content: TASK }),
  ...Array.from({ length: ROUNDS }, (_, index) => round(index, kind)).flat(),
];

/** The first of the blocks that a message has. */
function firstBlock(message: unknown): unknown {
  const { content } = message as { readonly content?: unknown };
  return Array.isArray(content) ? content[0] : content;
}

describe('compactMessages', () => {
  it('gives the very same list back while there is room', async () => {
    const messages = session().slice(0, 4);

    expect(await compactMessages(messages, { model })).toBe(messages);
  });

  it.each([
    { kind: AIMessage, strategy: 'ladder' },
    { kind: AIMessage, strategy: 'summarize' },
    { kind: AIMessageChunk, strategy: 'ladder' },
  ])(
    'gives live messages, untouched ones the same objects: $kind.name, $strategy',
    async ({ kind, strategy }) => {
      const messages = session(kind);
      const before = JSON.stringify(messages);
      const compacted = await compactMessages(messages, { model, windowTokens: WINDOW, strategy });
      const known = new Set(messages);

      expect(compacted.length).toBeLessThan(messages.length / 2);
      expect(compacted.every((message) => isBaseMessage(message))).toBe(true);
      expect(compacted[0]).toBe(messages[0]);
      // The question opens the message with the summary: two messages of the user may not be neighbours.
      expect(firstBlock(compacted[1])).toEqual({ type: 'text', text: TASK });
      expect(compacted.at(-1)).toBe(messages.at(-1));
      const made = compacted.filter((message) => !known.has(message));
      expect(made.length).toBeGreaterThan(0);
      for (const message of made)
        expect(messages.some((other) => message instanceof other.constructor)).toBe(true);
      expect(JSON.stringify(messages)).toBe(before);
    },
  );

  it('makes rewritten results of their own class, with their ids', async () => {
    const messages = session();
    const compacted = await compactMessages(messages, {
      model,
      windowTokens: WINDOW,
      strategy: 'clear-tool-results',
      options: { tools: ['gauge'], protectTokens: 2000, minBatchTokens: 1000 },
    });
    const cleared = compacted.filter((message) => !messages.includes(message));

    expect(compacted).toHaveLength(messages.length);
    expect(cleared.length).toBeGreaterThan(ROUNDS / 2);
    for (const message of cleared) {
      expect(message).toBeInstanceOf(ToolMessage);
      expect(message.id).toBe(`t${(message as ToolMessage).tool_call_id}`);
      expect(message.text).toContain('cleared');
    }
  });

  it('leaves a new message plain where none of its kind is there', async () => {
    const messages = session().filter(({ type }) => type !== 'human');
    const compacted = await compactMessages(messages, { model, windowTokens: WINDOW, strategy: 'summarize' });

    expect(compacted.filter((message) => !isBaseMessage(message))).toMatchObject([{ type: 'human' }]);
  });

  it('takes a compactor, which remembers', async () => {
    const compactor = createCompactor({ model, windowTokens: WINDOW });
    const once = await compactMessages(session(), compactor);

    expect(await compactMessages(once, compactor)).toBe(once);
  });
});

describe('compactionMiddleware', () => {
  /** Calls the tool until a conversation has had its rounds. */
  const script: Script = ({ conversation, tools }) => {
    const text = JSON.stringify(conversation.messages.at(-1)?.raw);
    const last = Number(/gauge (\d+):/.exec(text)?.[1] ?? 0);
    const input = { gauge: last + 1 };
    const isDone = last >= ROUNDS;
    return {
      parts: [
        { type: 'text', text: isDone ? 'All read.' : `Gauge ${last + 1}.` },
        ...(isDone ? [] : tools.map(({ name }) => ({ type: 'tool-call' as const, name, input }))),
      ],
    };
  };
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator({ windowTokens: WINDOW, script });
  });
  afterEach(() => simulator.close());

  const gauge = tool(({ gauge: number }: { gauge: number }) => reading(number), {
    name: 'gauge',
    description: 'reads a gauge',
    schema: { type: 'object', properties: { gauge: { type: 'number' } }, required: ['gauge'] },
  });

  function agentWith(middleware: readonly ReturnType<typeof compactionMiddleware>[]) {
    return createAgent({
      model: new OpenaiChatModel({ url: simulator.url, model }),
      tools: [gauge],
      systemPrompt: 'You watch a harbour.',
      middleware,
    });
  }

  it('keeps the states of conversations that one agent serves at once in their window', async () => {
    const events: string[] = [];
    const agent = agentWith([
      compactionMiddleware({ model, windowTokens: WINDOW, onEvent: ({ type }) => events.push(type) }),
    ]);
    const states = await Promise.all(
      ['north', 'south'].map((name) =>
        agent.invoke({ messages: [`${TASK} In the ${name}.`] }, { recursionLimit: 4 * ROUNDS }),
      ),
    );

    expect(simulator.requests.map(({ status }) => status)).toEqual(Array(2 * (ROUNDS + 1)).fill(200));
    expect(events.filter((type) => type === 'compaction-end').length).toBeGreaterThan(3);
    for (const [index, { messages }] of states.entries()) {
      expect(messages.length).toBeLessThan(ROUNDS);
      expect(messages.every((message) => isBaseMessage(message))).toBe(true);
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
      expect(firstBlock(messages[0])).toMatchObject({ text: `${TASK} In the ${['north', 'south'][index]}.` });
      expect(messages.at(-1)?.text).toBe('All read.');
    }
  });

  it('without it the same agent ends with a prompt that is too long', async () => {
    const run = agentWith([]).invoke({ messages: [TASK] }, { recursionLimit: 4 * ROUNDS });

    await expect(run).rejects.toThrow('maximum context length');
  });

  it('changes nothing while there is room', async () => {
    const { beforeModel } = compactionMiddleware({ model });

    expect(await beforeModel({ messages: session() }, {})).toBeUndefined();
  });

  it('tells the reducer to forget everything, and what there is instead', async () => {
    const { beforeModel } = compactionMiddleware({ model, windowTokens: WINDOW });
    const messages = session();
    const update = await beforeModel({ messages }, { configurable: { thread_id: 'one' } });

    expect(update?.messages[0]).toEqual({ type: 'remove', id: '__remove_all__' });
    expect(update?.messages[1]).toBe(messages[0]);
    expect(firstBlock(update?.messages[2])).toEqual({ type: 'text', text: TASK });
    expect(update?.messages.at(-1)).toBe(messages.at(-1));
  });

  it('has a compactor for every thread, so that a summarizer that is paused in one is asked in others', async () => {
    const failing = {
      name: 'failing',
      asksModel: true,
      summarize: async () => ({ status: 'failed' as const, reason: 'down', message: 'the model is down' }),
    };
    const paused: number[] = [];
    const { beforeModel } = compactionMiddleware({
      model,
      windowTokens: WINDOW * 4,
      trigger: 20_000,
      strategy: 'summarize',
      summarizer: failing as never, // whatever its failure looks like, it is one
      onEvent: (event) => {
        if (event.type === 'summarizer-paused') paused.push(event.turns);
      },
    });
    for (let turn = 0; turn < 4; turn++) {
      for (const thread_id of ['one', 'two']) {
        await beforeModel({ messages: session() }, { configurable: { thread_id } });
      }
    }

    expect(paused).toHaveLength(2);
  });
});
