import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { tailStart } from '../../src/core/tail.ts';
import {
  type Completion,
  collapseReads,
  contextWindowForModel,
  createCompactor,
  createTokenEstimator,
  formatSummary,
  functionClient,
  groupRounds,
  legalCuts,
  type ModelInfo,
  measureContext,
  messagesToKeepIndex,
  modelSummarizer,
  o200kProfile,
  parseOverflow,
  readConversation,
  slidingWindow,
  snip,
  summarize,
  summaryPrompt,
  writeConversation,
} from '../../src/index.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { messagesOfShape } from '../../src/testing/shapes.ts';
import {
  anthropic,
  errorsOf,
  estimator,
  expectCompacted,
  rawsOf,
  recording,
  shaped,
  toolRound,
  toolSession,
} from '../support/checklist.ts';
import { steps, writers } from '../support/conversations.ts';
import { strategyContext } from '../support/strategy-context.ts';

describe('tokens and windows (rows 82 to 84)', () => {
  const text = 'forty characters of text, more or less..';

  it.each([
    { kind: 'text', role: 'user', block: { type: 'text', text } },
    { kind: 'thinking', role: 'assistant', block: { type: 'thinking', thinking: text, signature: 'c2ln' } },
    { kind: 'a call', role: 'assistant', block: { type: 'tool_use', id: 'a', name: 'x', input: { text } } },
    { kind: 'a result', role: 'user', block: { type: 'tool_result', tool_use_id: 'a', content: text } },
    { kind: 'an unknown block', role: 'user', block: { type: 'brand_new', text } },
  ])('row 82: $kind is counted', ({ role, block }) => {
    const conversation = anthropic([{ role, content: [block] }]);

    expect(measureContext(conversation, estimator).tokens).toBeGreaterThanOrEqual(text.length);
  });

  it('row 82: no text has no tokens, and "hello world" has two or three', () => {
    const { countText } = createTokenEstimator();

    expect(countText('')).toBe(0);
    expect(countText('hello world')).toBeGreaterThanOrEqual(2);
    expect(countText('hello world')).toBeLessThan(3);
  });

  it.each([
    ['gpt-4o', 128_000],
    ['gpt-4', 8192],
    ['gpt-4-turbo', 128_000],
    ['gpt-3.5-turbo', 16_385],
    ['gpt-4.1', 1_047_576],
    ['o3', 200_000],
    ['openai/o3', 200_000],
    ['llama-3.1-70b', 131_072],
    ['claude-sonnet-4-5', 200_000],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['openrouter/anthropic/claude-sonnet-4.5', 200_000],
    ['claude-sonnet-4-5[1m]', 1_000_000],
    // It had 200,000 once; its window has grown since.
    ['claude-sonnet-4-6', 1_000_000],
    ['claude-sonnet-4-6[200k]', 200_000],
    ['a-model-nobody-knows', 128_000],
  ])('row 83: %s has a window of %d', (name, windowTokens) => {
    expect(contextWindowForModel(name)).toBe(windowTokens);
  });

  it('row 83: a row of your own goes before the table, under the same rules for names', () => {
    const own: ModelInfo = {
      id: 'gpt-4o',
      provider: 'acme',
      family: 'other',
      windowTokens: 50_000,
      asOf: '2026-11',
    };

    expect(contextWindowForModel('gateway/gpt-4o-latest', { overrides: [own] })).toBe(50_000);
    expect(contextWindowForModel('gpt-4o[1m]', { overrides: [own] })).toBe(1_000_000);
    expect(createCompactor({ model: 'gpt-4o', windowTokens: 9000 }).thresholds.windowTokens).toBe(9000);
  });

  // A quarter of the bytes, rounded down, and nothing for what wraps a message.
  const quarters = createTokenEstimator({
    profile: { ...o200kProfile, perMessageTokens: 0 },
    countText: (value) => Math.floor(value.length / 4),
  });
  const alternating = (length: number) =>
    anthropic(
      Array.from({ length }, (_one, index) =>
        index % 2 === 0
          ? { role: 'user', content: 'q'.repeat(15) }
          : { role: 'assistant', content: 'a'.repeat(112) },
      ),
    ).messages;

  it.each([
    { length: 20, budget: 100, index: 14 },
    { length: 20, budget: 31, index: 18 },
    { length: 20, budget: 28, index: 19 },
    { length: 20, budget: 27, index: 20 },
    { length: 20, budget: 0, index: 20 },
    { length: 3, budget: 100_000, index: 0 },
    { length: 0, budget: 100, index: 0 },
  ])('row 84: of $length messages those from $index on fit $budget tokens', ({ length, budget, index }) => {
    expect(messagesToKeepIndex(alternating(length), quarters, budget)).toBe(index);
  });

  it.each([
    { keepTokens: 100_000, start: 0 },
    { keepTokens: 1100, start: 57 },
    { keepTokens: 0, start: 61 },
  ])(
    'row 84: a tail of $keepTokens tokens that is to be sent begins at $start, with a whole round',
    (row) => {
      const { messages } = toolSession(30);
      const start = tailStart(messages, estimator, { keepTokens: row.keepTokens, keepRounds: 0 });

      expect(start).toBe(row.start);
      expect(legalCuts(messages)).toContain(start);
    },
  );
});

describe('what is cut, and where (rows 85 to 87)', () => {
  it.each([
    { shape: '', preamble: 0, responses: 0 },
    { shape: 'uuu', preamble: 1, responses: 0 },
    { shape: 'uaua', preamble: 1, responses: 2 },
    { shape: 'uauauauauaua', preamble: 1, responses: 6 },
    { shape: 'ucrcra', preamble: 1, responses: 3 },
  ])('row 85: "$shape" has $responses responses to compact', ({ shape, preamble, responses }) => {
    const kinds = groupRounds(messagesOfShape(shape)).map(({ kind }) => kind);

    expect(kinds.filter((kind) => kind === 'preamble').length).toBe(preamble);
    expect(kinds.filter((kind) => kind === 'response').length).toBe(responses);
  });

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    test.prop([steps, fc.integer({ min: 1, max: 6 })], { numRuns: 60 })(
      'row 85: what leaves is whole rounds, as in row 1',
      async (list, keepRounds) => {
        const conversation = readConversation(deepFreeze(write(list)), name);
        const outcome = await snip({ keepRounds }).compact(conversation, strategyContext());
        if (outcome.status !== 'compacted') return;
        const views = (['previous', 'next'] as const).flatMap((userTextJoins) =>
          groupRounds(conversation.messages, { userTextJoins }),
        );
        const borders = new Set(views.flatMap(({ start, end }) => [start, end]));

        for (const { start, end } of outcome.receipt.runs) {
          expect(borders).toContain(start);
          expect(borders).toContain(end);
        }
      },
    );
  });

  it.each([
    { length: 5, left: 5 },
    { length: 20, left: 11 },
    { length: 21, left: 11 },
    { length: 50, left: 11 },
    { length: 51, left: 11 },
  ])('row 86: of $length messages the newest ten and the task are left: $left', async ({ length, left }) => {
    const conversation = shaped('ua'.repeat(length).slice(0, length));
    const outcome = await slidingWindow({ keepLast: 10 }).compact(conversation, strategyContext());
    const kept = outcome.status === 'compacted' ? outcome.conversation : conversation;
    const freed =
      outcome.status === 'compacted' ? outcome.receipt.tokensBefore - outcome.receipt.tokensAfter : 0;

    expect(kept.messages.length).toBe(left);
    expect(freed > 0).toBe(length > 10);
  });

  it.each(['ucrcrcrcrcr', 'ucrcrcrcrcra', 'uauauaua', 'uauauauau', 'uucrcrcrcr', 'uucrcrcrcra'])(
    'row 86: snip of %s frees what its receipt says and leaves a legal list that the user begins',
    async (shape) => {
      const before = shaped(shape);
      const outcome = await snip({ keepRounds: 2 }).compact(before, strategyContext({ estimator }));
      const { conversation, receipt } = expectCompacted(outcome);
      const gone = receipt.runs.filter(({ fate }) => fate === 'dropped');

      expect(receipt.tokensBefore - receipt.tokensAfter).toBe(
        gone.reduce((sum, { tokens }) => sum + tokens, 0),
      );
      expect(receipt.tokensAfter).toBeLessThan(receipt.tokensBefore);
      expect(conversation.messages[0]?.role).toBe('user');
      expect(errorsOf(conversation, writeConversation(conversation))).toBe(errorsOf(before, rawsOf(before)));
    },
  );

  it('row 86: snip of what is short enough frees nothing', async () => {
    expect((await snip({ keepRounds: 10 }).compact(shaped('uauau'), strategyContext())).status).toBe(
      'skipped',
    );
  });

  const use = (id: string, name: string, content: unknown = `${id} ${'code '.repeat(100)}`) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { file_path: 'src/a.ts' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
  ];

  it.each([
    { uses: [...use('first', 'Read'), ...use('second', 'Read')], note: 'read again' },
    { uses: [...use('first', 'Read'), ...use('change', 'Edit')], note: 'changed' },
    {
      uses: [...use('first', 'Read'), ...use('change', 'Edit'), ...use('second', 'Read')],
      note: 'read again',
    },
  ])('row 87: what was read before the file was $note becomes a note, and no message leaves', async (row) => {
    const conversation = anthropic([
      { role: 'user', content: 'task' },
      ...row.uses,
      ...toolRound('x'),
      ...toolRound('y'),
    ]);
    const outcome = await collapseReads().compact(conversation, strategyContext());
    const after = expectCompacted(outcome).conversation;
    const written = rawsOf(after);

    expect(JSON.stringify(written[2])).toContain(`older content of src/a.ts: `);
    expect(JSON.stringify(written[2])).toContain(row.note);
    expect(written.toSpliced(2, 1)).toEqual(rawsOf(conversation).toSpliced(2, 1));
    expect(errorsOf(after, writeConversation(after))).toBe(0);
  });
});

describe('the summary (rows 88 and 89)', () => {
  const usage = { promptTokens: 100, outputTokens: 10 };
  const modelOf = (answer: Partial<Completion>) =>
    modelSummarizer(
      functionClient(() => ({ text: 'what happened', stop: 'end', usage, ...answer })),
      { overflowOf: parseOverflow },
    );

  it.each([
    { instructions: 'Look after the ports.', isSame: false },
    { instructions: undefined, isSame: true },
    { instructions: '', isSame: true },
    { instructions: ' \n', isSame: true },
  ])('row 88: the prompt says what the user wants kept: $instructions', ({ instructions, isSame }) => {
    const plain = { transcript: 'user: hi', maximumWords: 400 };
    const prompt = summaryPrompt({ ...plain, instructions });

    expect(prompt === summaryPrompt(plain)).toBe(isSame);
    if (!isSame) expect(prompt).toContain(`\n${instructions}\n`);
  });

  it.each([
    [
      '<analysis>first I look</analysis>\n<summary>\nthe kiln is mended\n</summary>',
      'Summary:\nthe kiln is mended',
    ],
    ['<summary>the kiln</summary>', 'Summary:\nthe kiln'],
    ['<analysis>first I look</analysis>the kiln', 'the kiln'],
    ['the kiln\n\n\n\nis mended', 'the kiln\n\nis mended'],
    ['  the kiln is mended ', 'the kiln is mended'],
    ['the kiln is mended', 'the kiln is mended'],
  ])('row 88: %j is read as %j', (answer, summary) => {
    expect(formatSummary(answer)).toBe(summary);
  });

  it('row 89: what comes back is the list to send, with the task and the newest rounds as they were', async () => {
    const messages = deepFreeze(rawsOf(toolSession(30)));
    const compactor = createCompactor({
      strategy: summarize({ keepRecent: 0, keepRounds: 2 }),
      summarizer: modelOf({}),
    });
    const { value, outcome } = await compactor.compact(messages);

    expect(outcome).toMatchObject({ status: 'compacted', usage });
    expect(value.length).toBe(6);
    expect(value[0]).toBe(messages[0]);
    expect(value.slice(2)).toEqual(messages.slice(-4));
  });

  it.each([
    { what: 'cut off', answer: { stop: 'length' }, reason: 'summary-truncated' },
    { what: 'without an end', answer: { text: '<summary>half a' }, reason: 'summary-truncated' },
    { what: 'blank', answer: { text: ' \n' }, reason: 'summary-empty' },
    { what: 'a refusal', answer: { stop: 'refusal' }, reason: 'summary-refused' },
    { what: 'a tool call', answer: { stop: 'tool-call' }, reason: 'summary-called-a-tool' },
  ] as const)(
    'row 89: a summary that is $what is a failure; the list stays, the cost is told',
    async (row) => {
      const messages = deepFreeze(rawsOf(toolSession(30)));
      const compactor = createCompactor({
        strategy: summarize({ keepRecent: 0 }),
        summarizer: modelOf(row.answer),
      });
      const { value, outcome } = await compactor.compact(messages);

      expect(value).toBe(messages);
      expect(outcome).toMatchObject({ status: 'failed', reason: row.reason });
      expect(outcome.usage?.promptTokens).toBeGreaterThanOrEqual(usage.promptTokens);
    },
  );

  it.each([
    { minGain: 0.2, status: 'insufficient' },
    { minGain: 0.1, status: 'compacted' },
  ])('row 89: less than 0.2 saved is $status where $minGain is wanted', async ({ minGain, status }) => {
    const { summarizer } = recording(() => 's'.repeat(11_400));
    const strategy = summarize({ keepRecent: 0, maxSummary: 1_000_000, minGain });
    const context = strategyContext({ estimator, summarizer, targetTokens: 100 });

    expect((await strategy.compact(toolSession(30), context)).status).toBe(status);
  });

  it('row 89: nothing old is no reason to ask', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 1 });

    expect(await summarize().compact(toolSession(1), context)).toMatchObject({ reason: 'nothing-old' });
    expect(requests).toEqual([]);
  });

  it('row 89: too little that is old is no reason to ask either', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 1 });
    const conversation = anthropic([
      ...rawsOf(toolSession(2, 100)),
      ...toolRound('large', 5000),
      ...toolRound('larger', 6000),
    ]);

    expect(await summarize({ keepRecent: 0 }).compact(conversation, context)).toMatchObject({
      status: 'insufficient',
      reason: 'gain-too-small',
    });
    expect(requests).toEqual([]);
  });

  it('row 89: signed thinking in the newest rounds is untouched', async () => {
    const thinking = { type: 'thinking', thinking: 'I wonder', signature: 'c2ln' };
    const messages = deepFreeze([
      ...rawsOf(toolSession(30)),
      { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'z', name: 'x', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'z', content: 'y' }] },
    ]);
    const compactor = createCompactor({ strategy: summarize({ keepRecent: 0 }), summarizer: modelOf({}) });
    const { value, outcome } = await compactor.compact(messages);

    expect(outcome.status).toBe('compacted');
    expect(value.at(-2)).toBe(messages.at(-2));
  });
});
