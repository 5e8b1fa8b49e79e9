import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { readSummaryMessage } from '../../src/conversation/index.ts';
import {
  anthropicClient,
  changeOf,
  createCompactor,
  functionClient,
  modelSummarizer,
  openaiClient,
  parseOverflow,
  type Summarizer,
  summarize,
  writeConversation,
} from '../../src/index.ts';
import type { Completion } from '../../src/memory/index.ts';
import { summaryRequestBudget } from '../../src/memory/model/summary-call.ts';
import { chat, chatShape } from '../support/chat-shapes.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import {
  anthropic,
  estimator,
  expectCompacted,
  rawsOf,
  recording,
  toolRound,
  toolSession,
} from '../support/small-sessions.ts';
import { countingSummarizer, strategyContext } from '../support/strategy-context.ts';

const spent = { promptTokens: 100, outputTokens: 10 };

/** A model that gives one answer, whatever it is asked. */
function modelOf(answer: Partial<Completion>): Summarizer {
  return modelSummarizer(
    functionClient(() => ({ text: 'NOW\nwhat happened', stop: 'end', usage: spent, ...answer })),
    { overflowOf: parseOverflow },
  );
}

describe('a summary', () => {
  it("is a user's message that begins with “[earlier conversation summary]”", async () => {
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const after = expectCompacted(await summarize().compact(toolSession(30), context)).conversation;
    const [message] = after.messages.filter((one) => readSummaryMessage(one) !== undefined);

    expect(message?.role).toBe('user');
    expect(message?.blocks[0]).toMatchObject({
      text: expect.stringMatching(/^\[earlier conversation summary\]\n/),
    });
  });

  it('stands in the list to send, between the task and the newest rounds as they were', async () => {
    const messages = deepFreeze(rawsOf(toolSession(30)));
    const compactor = createCompactor({
      windowTokens: 200_000,
      strategy: summarize({ keepRounds: 2 }),
      summarizer: modelOf({}),
    });
    const { value, outcome } = await compactor.compact(messages);

    expect(outcome).toMatchObject({ status: 'compacted', usage: spent });
    expect(value.length).toBe(6);
    expect(value[0]).toBe(messages[0]);
    expect(value.slice(2)).toEqual(messages.slice(-4));
  });

  it('leaves everything in front of it the very same, so that caches hold', async () => {
    const body = deepFreeze({ system: 'rules', tools: [], messages: rawsOf(toolSession(30)) });
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const outcome = expectCompacted(await summarize().compact(anthropic(body), context));
    const written = writeConversation(outcome.conversation) as typeof body;

    expect(written.system).toBe(body.system);
    expect(written.tools).toBe(body.tools);
    expect(written.messages[0]).toBe(body.messages[0]);
  });

  it('leaves signed thinking in the newest rounds untouched', async () => {
    const thinking = { type: 'thinking', thinking: 'I wonder', signature: 'c2ln' };
    const messages = deepFreeze([
      ...rawsOf(toolSession(30)),
      { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'z', name: 'x', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'z', content: 'y' }] },
    ]);
    const compactor = createCompactor({
      windowTokens: 200_000,
      strategy: summarize(),
      summarizer: modelOf({}),
    });
    const { value, outcome } = await compactor.compact(messages);

    expect(outcome.status).toBe('compacted');
    expect(value.at(-2)).toBe(messages.at(-2));
  });
});

describe('the request for a summary', () => {
  it('is made once in a compaction', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
    expectCompacted(await summarize().compact(toolSession(30), context));

    expect(requests.length).toBe(1);
  });

  const usage = { input_tokens: 10, output_tokens: 5 };
  const answers = {
    anthropic: {
      client: anthropicClient,
      body: {
        content: [{ type: 'text', text: 'NOW\nwhat happened' }],
        stop_reason: 'end_turn',
        usage,
      },
    },
    openai: {
      client: openaiClient,
      body: { choices: [{ message: { content: 'NOW\nwhat happened' }, finish_reason: 'stop' }] },
    },
  };

  it.each(Object.entries(answers))('is one turn without tools for %s', async (_name, { client, body }) => {
    const sent: Readonly<Record<string, unknown>>[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      sent.push(JSON.parse(String(init?.body)));
      return Response.json(body);
    };
    const summarizer = modelSummarizer(client({ model: 'm', fetch }), { overflowOf: parseOverflow });
    const conversation = anthropic({
      system: 'You are an agent.',
      tools: [{ name: 'ask_expert', input_schema: { type: 'object' } }],
      messages: rawsOf(toolSession(30)),
    });
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
    expectCompacted(await summarize().compact(conversation, context));

    expect(sent.length).toBe(1);
    expect(Object.keys(sent[0]!)).not.toContain('tools');
    expect((sent[0]!['messages'] as readonly { role: string }[]).map(({ role }) => role)).toContain('user');
    expect(JSON.stringify(sent[0])).not.toContain('"assistant"');
  });

  it("has the instructions of the strategy, and not the agent's own system prompt", async () => {
    const asked: string[] = [];
    const client = functionClient(({ system, prompt }) => {
      asked.push(system, prompt);
      return 'NOW\nwhat happened';
    });
    const conversation = anthropic({
      system: 'You are a pirate. Always answer in rhymes.',
      messages: rawsOf(toolSession(30)),
    });
    const summarizer = modelSummarizer(client, { overflowOf: parseOverflow });
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
    const strategy = summarize({ instructions: 'Look after the ports.' });
    expectCompacted(await strategy.compact(conversation, context));

    expect(asked.join('\n')).toContain('Look after the ports.');
    expect(asked.join('\n')).not.toContain('pirate');
  });

  test.prop([fc.integer({ min: 1000, max: 40_000 }), fc.integer({ min: 1, max: 60 })])(
    'a prompt is sent only if it fits with everything around it',
    async (windowTokens, count) => {
      const prompts: string[] = [];
      const client = functionClient(({ system = '', prompt }) => {
        prompts.push(`${system}${prompt}`);
        return 'NOW\nwhat happened';
      });
      const conversation = chat(chatShape('uCta'.repeat(count)));
      await modelSummarizer(client, { windowTokens, overflowOf: () => undefined }).summarize({
        messages: conversation.messages,
        conversation,
        previousSummary: undefined,
        instructions: undefined,
        maximumTokens: 2000,
        estimator,
        signal: undefined,
      });
      const { inputTokens } = summaryRequestBudget(windowTokens, 2000 + 1024);

      for (const prompt of prompts) expect(prompt.length).toBeLessThanOrEqual(inputTokens);
    },
  );
});

describe('no summary is asked for', () => {
  it('when nothing is old enough', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 1 });

    expect(await summarize().compact(toolSession(1), context)).toMatchObject({
      status: 'skipped',
      reason: 'nothing-old',
    });
    expect(requests).toEqual([]);
  });

  it('when too little is old to be worth it', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 1 });
    const conversation = anthropic([
      ...rawsOf(toolSession(2, 100)),
      ...toolRound('large', 5000),
      ...toolRound('larger', 6000),
    ]);

    expect(await summarize({ keepRounds: 2 }).compact(conversation, context)).toMatchObject({
      status: 'insufficient',
      reason: 'gain-too-small',
    });
    expect(requests).toEqual([]);
  });

  it('when an automatic run is not due, while one by hand needs no pressure', async () => {
    const conversation = toolSession(12);
    const strategy = summarize({ keepRounds: 4 });
    const context = { estimator, targetTokens: 1_000_000 };
    const byHand = await strategy.compact(conversation, strategyContext({ ...context, trigger: 'manual' }));
    const byItself = await strategy.compact(conversation, strategyContext({ ...context, trigger: 'auto' }));

    expect(rawsOf(expectCompacted(byHand).conversation).slice(-8)).toEqual(rawsOf(conversation).slice(-8));
    expect(expectCompacted(byHand).receipt.messagesAfter).toBe(10);
    expect(byItself).toMatchObject({ status: 'skipped', reason: 'below-threshold' });
  });
});

describe('what a summary saves', () => {
  it('is counted without the summary itself', async () => {
    const freed = async (text: string) => {
      const { summarizer } = recording(() => text);
      const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
      const { receipt } = expectCompacted(await summarize().compact(toolSession(30), context));
      return receipt.tokensBefore - receipt.tokensAfter;
    };

    expect((await freed('s'.repeat(10))) - (await freed('s'.repeat(1010)))).toBe(1000);
  });

  it.each([
    { minGain: 0.2, reason: 'floor-exceeds-target', isChanged: true },
    { minGain: 0.23, reason: 'gain-too-small', isChanged: false },
  ])(
    'must be $minGain of the request at least, or nothing is changed',
    async ({ minGain, reason, isChanged }) => {
      const { summarizer } = recording(() => 's'.repeat(100));
      const strategy = summarize({ keepRounds: 23, minGain });
      const context = strategyContext({ estimator, summarizer, targetTokens: 5000 });
      const outcome = await strategy.compact(toolSession(30), context);

      expect(outcome).toMatchObject({ status: 'insufficient', reason });
      expect(changeOf(outcome) !== undefined).toBe(isChanged);
    },
  );
});

describe('a summarizer that fails', () => {
  const failing: readonly (readonly [string, string, () => Summarizer])[] = [
    [
      'throws',
      'upstream',
      () => ({ ...countingSummarizer, summarize: () => Promise.reject(new Error('down')) }),
    ],
    [
      'says that it failed',
      'upstream',
      () => ({
        ...countingSummarizer,
        summarize: async () => ({ status: 'failed', reason: 'upstream', message: 'down', usage: spent }),
      }),
    ],
    ['is cut off', 'truncated', () => modelOf({ stop: 'length' })],
    ['never ends its summary', 'truncated', () => modelOf({ text: '<summary>half a' })],
    ['writes nothing', 'empty', () => modelOf({ text: ' \n' })],
    ['refuses', 'refused', () => modelOf({ stop: 'refusal' })],
    ['calls a tool', 'called-a-tool', () => modelOf({ stop: 'tool-call' })],
    ['writes as much as it has read', 'too-large', () => echoing(1)],
    ['writes more than it has read', 'too-large', () => echoing(1.2)],
  ];

  it.each(failing)(
    'and %s costs nothing but quality: our own writes the summary in the same run, and it is told',
    async (_how, reason, create) => {
      const messages = deepFreeze(rawsOf(toolSession(30)));
      const told: unknown[] = [];
      const summarizer = create();
      const compactor = createCompactor({
        windowTokens: 200_000,
        countTokens: (text) => text.length,
        strategy: 'summarize',
        summarizer,
        onEvent: (event) => told.push(event),
      });
      const { value, outcome, summary } = await compactor.compact(messages);

      expect(outcome.status).toBe('compacted');
      expect(summary).toBeDefined();
      expect(value.length).toBeLessThan(messages.length);
      expect(told).toContainEqual(
        expect.objectContaining({ type: 'summarizer-failed', summarizer: summarizer.name, reason }),
      );
      if (summarizer.asksModel)
        expect(outcome.usage?.promptTokens).toBeGreaterThanOrEqual(spent.promptTokens);
    },
  );
});

/** Writes so many times what it has read. */
function echoing(share: number): Summarizer {
  const { summarizer } = recording(({ messages }) =>
    's'.repeat(Math.ceil(share * estimator.countMessages(messages))),
  );
  return summarizer;
}
