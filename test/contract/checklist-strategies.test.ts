import { describe, expect, it } from 'vitest';
import {
  anthropicClient,
  type Conversation,
  collapse,
  createCompactor,
  createStrategy,
  formatLogRecord,
  functionClient,
  type LogRecord,
  ladder,
  modelSummarizer,
  none,
  type Outcome,
  openaiClient,
  parseOverflow,
  readSummaryMessage,
  renderTranscript,
  requestTokens,
  type Strategy,
  type Summarizer,
  safeSplitPoint,
  slidingWindow,
  snip,
  strategies,
  summarize,
  tokenBudget,
  withLogging,
  withRecursionGuard,
  writeConversation,
} from '../../src/index.ts';
import { messagesOfShape } from '../../src/testing/shapes.ts';
import {
  anthropic,
  errorsOf,
  estimator,
  expectCompacted,
  rawsOf,
  recording,
  shaped,
  toolSession,
} from '../support/checklist.ts';
import { countingSummarizer, strategyContext } from '../support/strategy-context.ts';

const created: readonly Strategy[] = strategies.map(({ name }) => createStrategy(name));

describe('strategies (rows 46 to 53)', () => {
  it.each(created)(
    'row 46: $name takes a conversation and a context and answers with an outcome',
    async (strategy) => {
      const outcome = await strategy.compact(
        toolSession(30),
        strategyContext({ estimator, targetTokens: 5000 }),
      );

      expect(['compacted', 'skipped', 'insufficient', 'failed']).toContain(outcome.status);
      expect(outcome.reason).toMatch(/\w/);
      if (outcome.status !== 'compacted') expect(outcome.message).toMatch(/\w/);
    },
  );

  it('row 47: none is the identity', async () => {
    const messages = rawsOf(toolSession(30));
    const off = { status: 'skipped', reason: 'off', message: expect.any(String), usage: undefined };
    const compactor = createCompactor({ strategy: none(), windowTokens: 1000 });

    expect(await none().compact(toolSession(30), strategyContext({ targetTokens: 1 }))).toEqual(off);
    expect((await compactor.compact(messages)).value).toBe(messages);
  });

  it.each([
    { shape: 'uaua', keepLast: 10, left: undefined },
    { shape: 'uauau', keepLast: 2, left: 3 },
    { shape: 'uaucrau', keepLast: 3, left: 5 },
  ])(
    'row 48: sliding-window keeps the last $keepLast of $shape and parts no pair',
    async ({ shape, keepLast, left }) => {
      const conversation = shaped(shape);
      const outcome = await slidingWindow({ keepLast }).compact(conversation, strategyContext());

      if (left === undefined) expect(outcome.status).toBe('skipped');
      else {
        const after = expectCompacted(outcome).conversation;
        expect(after.messages.length).toBe(left);
        expect(errorsOf(after, writeConversation(after))).toBe(0);
      }
    },
  );

  it('row 49: summarize acts from its threshold on, keeps the newest, follows instructions, and is forced by hand', async () => {
    const { requests, summarizer } = recording();
    const run = (options: Parameters<typeof summarize>[0], trigger: 'auto' | 'manual' = 'auto') =>
      summarize({ keepRecent: 0, ...options }).compact(
        toolSession(10),
        strategyContext({ estimator, summarizer, trigger, targetTokens: 3000 }),
      );

    expect(await run({ threshold: 100_000 })).toMatchObject({ status: 'skipped' });
    expect((await run({ threshold: 100 })).status).toBe('compacted');
    expect((await run({ threshold: 0, instructions: 'look after ports' })).status).toBe('compacted');
    expect((await run({ threshold: 100_000 }, 'manual')).status).toBe('compacted');
    expect(requests.map(({ instructions }) => instructions)).toEqual([
      undefined,
      'look after ports',
      undefined,
    ]);
  });

  it.each(created)(
    'row 50: $name is logged with what it changed, or that it changed nothing',
    async (inner) => {
      const records: LogRecord[] = [];
      const texts: string[] = [];
      const context = strategyContext({ estimator, targetTokens: 5000 });
      const conversation = toolSession(30);
      const outcome = await withLogging(inner, (record) => records.push(record)).compact(
        conversation,
        context,
      );
      await withLogging(inner, { write: (text) => texts.push(text) }).compact(conversation, context);
      const [record] = records;

      expect(record).toMatchObject({ strategy: inner.name, status: outcome.status, messagesBefore: 61 });
      expect(texts).toEqual([formatLogRecord(record!)]);
      const isChanged = record!.diff.some(({ change }) => change !== 'kept');
      expect(isChanged).toBe(outcome.status === 'compacted');
    },
  );

  it('row 50: a run that throws is logged too, and throws on', async () => {
    const records: LogRecord[] = [];
    const broken: Strategy = { name: 'broken', compact: () => Promise.reject(new Error('a bug')) };
    const logged = withLogging(broken, (record) => records.push(record));

    await expect(logged.compact(toolSession(1), strategyContext())).rejects.toThrow('a bug');
    expect(records).toMatchObject([{ status: 'failed', message: expect.stringContaining('a bug') }]);
  });

  it.each([
    ['uau', [0, 0, 2, 3, 3]],
    ['uaucra', [0, 0, 2, 2, 2, 2, 6, 6]],
    ['ra', [0, 0, 2, 2]],
    ['u', [0, 1, 1]],
    ['ucrau', [0, 0, 0, 0, 4, 5, 5]],
    ['uuuu', [0, 1, 2, 3, 4, 4]],
    ['ucrcrcrcrcr', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 11]],
  ] as const)('row 51: safeSplitPoint of %s is %j', (shape, points) => {
    expect(points.map((_point, desired) => safeSplitPoint(messagesOfShape(shape), desired))).toEqual(points);
  });

  it.each([ladder(), summarize(), tokenBudget(), snip(), slidingWindow(), collapse()])(
    'row 52: $name makes a session of one question and many tool rounds smaller',
    async (strategy) => {
      const conversation = toolSession(30);
      const context = strategyContext({ estimator, targetTokens: 9000 });
      const { conversation: after, receipt } = expectCompacted(await strategy.compact(conversation, context));

      expect(receipt.tokensAfter).toBeLessThan(receipt.tokensBefore);
      expect(after.messages[0]?.raw).toBe(conversation.messages[0]?.raw);
      expect(errorsOf(after, writeConversation(after))).toBe(0);
    },
  );

  it.each([
    { options: { budget: 3000 }, sizeOf: (after: Conversation) => requestTokens(after, estimator) },
    {
      options: { budget: 3000, unit: 'bytes' },
      sizeOf: (after: Conversation) =>
        rawsOf(after).reduce<number>((sum, raw) => sum + JSON.stringify(raw).length, 0),
    },
  ])('row 53: token-budget brings a conversation below $options', async ({ options, sizeOf }) => {
    const outcome = await tokenBudget(options).compact(toolSession(30), strategyContext({ estimator }));

    expect(sizeOf(expectCompacted(outcome).conversation)).toBeLessThanOrEqual(3000);
  });
});

describe('summaries (rows 54 to 60)', () => {
  it('row 54: a transcript shows what was said, called and answered', () => {
    const { messages } = anthropic([
      { role: 'user', content: 'mend it' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'bash', input: { command: 'ls' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'kiln.ts' }] },
    ]);

    expect(renderTranscript(messages)).toBe(
      'user: mend it\nassistant: I look.\n[called bash with {"command":"ls"}]\nuser: [tool result: kiln.ts]',
    );
  });

  it("row 55: a summary is a user's message that begins with “[earlier conversation summary]”", async () => {
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const after = expectCompacted(await summarize().compact(toolSession(30), context)).conversation;
    const [message] = after.messages.filter((one) => readSummaryMessage(one) !== undefined);

    expect(message?.role).toBe('user');
    expect(message?.blocks[0]).toMatchObject({
      text: expect.stringMatching(/^\[earlier conversation summary\]\n/),
    });
  });

  const refusals: readonly (readonly [string, () => ReturnType<Summarizer['summarize']>])[] = [
    [
      'says that it failed',
      async () => ({ status: 'failed', reason: 'upstream', message: 'down', usage: undefined }),
    ],
    ['throws', () => Promise.reject(new Error('down'))],
  ];

  it.each(refusals)(
    'row 56: a summarizer that %s leaves the conversation as it was',
    async (_how, refusing) => {
      const conversation = toolSession(30);
      const before = JSON.stringify(conversation.frame.body);
      const summarizer = { ...countingSummarizer, summarize: refusing };
      const outcome = await summarize().compact(
        conversation,
        strategyContext({ estimator, targetTokens: 5000, summarizer }),
      );

      expect(outcome).toMatchObject({ status: 'failed', message: expect.stringContaining('down') });
      expect(JSON.stringify(writeConversation(conversation))).toBe(before);
    },
  );

  it.each(['', ' \n '])('row 57: the empty summary %j is a failure', async (text) => {
    const { summarizer } = recording(() => text);
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });

    expect((await summarize().compact(toolSession(30), context)).status).toBe('failed');
  });

  it('row 58: one compaction asks for one summary', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
    expectCompacted(await summarize().compact(toolSession(30), context));

    expect(requests.length).toBe(1);
  });

  const usage = { input_tokens: 10, output_tokens: 5 };
  const answers = {
    anthropic: {
      client: anthropicClient,
      body: { content: [{ type: 'text', text: 'what happened' }], stop_reason: 'end_turn', usage },
    },
    openai: {
      client: openaiClient,
      body: { choices: [{ message: { content: 'what happened' }, finish_reason: 'stop' }] },
    },
  };

  it.each(Object.entries(answers))(
    'row 58: the request to %s is one turn without tools',
    async (_name, { client, body }) => {
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
    },
  );

  it('row 59: a compaction inside a compaction of the same conversation is refused', async () => {
    const inside: Outcome[] = [];
    const strategy = withRecursionGuard(summarize());
    const conversation = toolSession(30);
    const nesting: Summarizer = {
      ...countingSummarizer,
      async summarize() {
        inside.push(await strategy.compact(conversation, context));
        return { status: 'summarized', text: 'what happened', usage: undefined };
      },
    };
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer: nesting });

    expectCompacted(await strategy.compact(conversation, context));
    expect(inside).toMatchObject([{ status: 'skipped', reason: 'nested' }]);
  });

  it("row 60: instructions reach the model, and the agent's own system prompt does not", async () => {
    const asked: string[] = [];
    const client = functionClient(({ system, prompt }) => {
      asked.push(system, prompt);
      return 'what happened';
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
});
