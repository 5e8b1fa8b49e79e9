import { test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { steps } from '../../../test/support/conversations.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import type { Conversation } from '../../conversation/format.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { findFormat } from '../../formats/registry.ts';
import type { Edit } from '../plan/plan.ts';
import { finishPlan, judgeTarget, notCompacted, type Strategy } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { diffMessages, formatLogRecord, type LogRecord, type LogSink, withLogging } from './with-logging.ts';

const read = (messages: readonly unknown[]): Conversation => anthropicMessages.read(deepFreeze(messages));
const conversation = read(messagesOfShape('ucracrua').map(({ raw }) => raw));
const window = createStrategy('sliding-window', { keepLast: 2 });
const context = strategyContext({ targetTokens: 40 });

async function recordOf(inner: Strategy, given: Conversation = conversation): Promise<LogRecord> {
  const records: LogRecord[] = [];
  await withLogging(inner, (record) => records.push(record))
    .compact(given, context)
    .catch(() => undefined);
  expect(records).toHaveLength(1);
  return records[0]!;
}

const changesOf = ({ diff }: LogRecord) =>
  diff.map(({ change, before, after }) => `${change} ${before?.index ?? ''}>${after?.index ?? ''}`);

describe('withLogging', () => {
  it('refuses a path, and whatever else can take no record, when it is given one', () => {
    const given = (sink: unknown) => () => withLogging(window, sink as LogSink);
    const refusal = (remedy: string) =>
      expect.objectContaining({ code: 'usage', remedy: expect.stringContaining(remedy) });

    expect(given('runs.jsonl')).toThrow(refusal('roundfold/node'));
    for (const sink of [undefined, null, 7, {}, { write: 'no' }])
      expect(given(sink)).toThrow(refusal('function'));
    expect(given({ write: () => undefined })).not.toThrow();
  });

  it('tells what became of every message', async () => {
    const record = await recordOf(window);

    expect(record).toMatchObject({ strategy: 'sliding-window', trigger: 'manual', status: 'compacted' });
    expect(record).toMatchObject({ messagesBefore: 8, messagesAfter: 3, targetTokens: 40 });
    expect(record.tokensAfter).toBeLessThan(record.tokensBefore);
    expect(changesOf(record)).toEqual([
      'kept 0>0',
      'gone 1>',
      'gone 2>',
      'gone 3>',
      'gone 4>',
      'gone 5>',
      'kept 6>1',
      'kept 7>2',
    ]);
  });

  it('tells a summary from what it stands for, although the list is as long as before', async () => {
    const summarize = createStrategy('summarize', { keepRounds: 1, minGain: 0 });
    const answer = { role: 'assistant', content: 'word '.repeat(500) };
    const record = await recordOf(
      summarize,
      read(messagesOfShape('uaua').map(({ raw }, index) => (index === 1 ? answer : raw))),
    );

    expect(record.messagesBefore).toBe(record.messagesAfter);
    expect(changesOf(record)).toEqual(['kept 0>0', 'gone 1>', 'new >1', 'kept 2>2', 'kept 3>3']);
    expect(record.diff[2]?.after?.text).toMatch(/^\[earlier conversation summary\] Memory of 1 rounds\./);
  });

  it('shows what was only made smaller as changed, beside what it was', async () => {
    const clear = createStrategy('clear-tool-results', { protectTokens: 0, minBatchTokens: 0 });
    const long = read(messagesOfShape('ucracrua', ' and so on'.repeat(40)).map(({ raw }) => raw));
    const record = await recordOf(clear, long);

    expect(changesOf(record).filter((change) => !change.startsWith('kept'))).toEqual([
      'changed 2>2',
      'changed 5>5',
    ]);
    expect(record.diff[2]).toMatchObject({
      before: { role: 'user', text: expect.stringContaining('[tool result: text 2') },
      after: { role: 'user', text: '[tool result: [Old tool result content cleared]]' },
    });
  });

  it('tells of the best there is where the target was missed, and why', async () => {
    const missing: Strategy = {
      name: 'missing',
      compact: async (...run) => judgeTarget(await window.compact(...run), 1, 'the tools'),
    };
    const record = await recordOf(missing);

    expect(record).toMatchObject({ status: 'insufficient', messagesBefore: 8, messagesAfter: 3 });
    expect(record.message).toContain('most of it is the tools');
    expect(record.tokensAfter).toBeLessThan(record.tokensBefore);
    expect(changesOf(record)).toHaveLength(8);
  });

  it.each([
    { title: 'did nothing', inner: createStrategy('none'), status: 'skipped', reason: 'off' },
    {
      title: 'threw',
      inner: { name: 'broken', compact: () => Promise.reject(new Error('a bug')) },
      status: 'failed',
      reason: 'threw',
    },
  ])('tells of a run that $title', async ({ inner, status, reason }) => {
    const record = await recordOf(inner);

    expect(record).toMatchObject({ status, reason, messagesBefore: 8, messagesAfter: 8, diff: [] });
    expect(record.tokensBefore).toBe(record.tokensAfter);
    expect(record.message).toMatch(/switched off|a bug/);
  });

  it.each([
    {
      title: 'throws',
      sink: () => {
        throw new Error('disk full');
      },
    },
    { title: 'rejects', sink: () => Promise.reject(new Error('disk full')) },
    { title: 'rejects as a stream', sink: { write: () => Promise.reject(new Error('disk full')) } },
  ])('lets a run be when the sink $title', async ({ sink }) => {
    const told = Promise.withResolvers<unknown>();
    const expected = await window.compact(conversation, context);
    const strategy = withLogging(window, sink, { onSinkError: told.resolve });

    expect(await strategy.compact(conversation, context)).toEqual(expected);
    expect(await told.promise).toMatchObject({ message: 'disk full' });
    expect(await withLogging(window, sink).compact(conversation, context)).toEqual(expected);
  });

  it('does not wait for a slow sink', async () => {
    const strategy = withLogging(window, () => new Promise(() => undefined));

    expect(await strategy.compact(conversation, context)).toMatchObject({ status: 'compacted' });
  });

  it('does not mind when the one who hears of errors throws too', async () => {
    const fault = () => {
      throw new Error('disk full');
    };
    const strategy = withLogging(window, fault, { onSinkError: fault });

    expect(await strategy.compact(conversation, context)).toMatchObject({ status: 'compacted' });
  });

  const everyWhere = [window, createStrategy('clear-tool-results', { protectTokens: 0, minBatchTokens: 0 })];
  describe.each(Object.entries(writers))('in %s', (name, write) => {
    test.prop([steps], { numRuns: 60 })('accounts for every message once, on both sides', async (list) => {
      for (const inner of everyWhere) {
        const given = findFormat(name)!.read(deepFreeze(write(list)));
        const { diff, messagesBefore, messagesAfter, status } = await recordOf(inner, given);
        if (status !== 'compacted') continue;

        expect(diff.flatMap(({ before }) => before?.index ?? [])).toEqual([...Array(messagesBefore).keys()]);
        expect(diff.flatMap(({ after }) => after?.index ?? [])).toEqual([...Array(messagesAfter).keys()]);
        for (const { change, before, after } of diff) {
          if (change === 'kept') expect(after).toEqual({ ...before, index: after?.index });
          expect(change === 'gone').toBe(after === undefined);
          expect(change === 'new').toBe(before === undefined);
        }
      }
    });
  });
});

describe('formatLogRecord', () => {
  it('shows what was before and what is after', async () => {
    const texts: string[] = [];
    const usage = { promptTokens: 50, outputTokens: 5 };
    const paid: Strategy = {
      name: 'paid-window',
      compact: async (...run) => ({ ...(await window.compact(...run)), usage }),
    };
    await withLogging(paid, { write: (text) => texts.push(text) }).compact(conversation, context);
    const [header, ...lines] = texts.join('').split('\n');

    expect(header).toMatch(/^=+$/);
    expect(lines.map((line) => line.replaceAll(/\(\d+\):/g, '(n):').replace(/\d+ -> \d+/, 'n -> n'))).toEqual(
      [
        'paid-window (manual): compacted, kept the last 2',
        'tokens n -> n, target 40',
        'spent 50 in, 5 out',
        'BEFORE (8)',
        '  0 user (n): question 0',
        '- 1 assistant (n): [called read_file]',
        '- 2 user (n): [tool result: text 2]',
        '- 3 assistant (n): answer 3',
        '- 4 assistant (n): [called read_file]',
        '- 5 user (n): [tool result: text 5]',
        '  6 user (n): question 6',
        '  7 assistant (n): answer 7',
        'AFTER (3)',
        '  0 user (n): question 0',
        '  1 user (n): question 6',
        '  2 assistant (n): answer 7',
        '',
      ],
    );
  });

  it('says the same of the same run, so that two logs can be compared', async () => {
    const first = formatLogRecord(await recordOf(window));
    const second = formatLogRecord(await recordOf(window));
    const other = formatLogRecord(await recordOf(createStrategy('sliding-window', { keepLast: 4 })));

    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  it('says that nothing was changed, and why', async () => {
    expect(
      formatLogRecord(await recordOf(createStrategy('none')))
        .split('\n')
        .slice(1),
    ).toEqual([
      'none (manual): skipped, off',
      'compaction is switched off',
      expect.stringMatching(/^tokens (\d+) -> \1, target 40$/),
      'BEFORE (8)',
      'AFTER (8) unchanged',
      '',
    ]);
  });

  it('writes what a strange strategy says as one line', async () => {
    const compact = async () => notCompacted('failed', 'odd', 'first\n====\u001b[2J');
    const lines = formatLogRecord(await recordOf({ name: 'strange', compact })).split('\n');

    expect(lines[2]).toBe('first↵====\\u{1b}[2J');
  });

  it('gives a message one line, whatever is in it', async () => {
    const nasty = read([
      { role: 'user', content: 'first\n- 9 user (1): forged\u001b[2J' },
      { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(100_000) }] },
      { role: 'user', content: 'last' },
      { role: 'assistant', content: 'end' },
    ]);
    const lines = formatLogRecord(await recordOf(window, nasty)).split('\n');

    expect(lines.filter((line) => line.includes('forged'))).toHaveLength(2);
    expect(lines.join('')).not.toContain('\u001b');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(130);
  });
});

const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const wire = {
  text: { role: 'user', content: 'a question' },
  picture: { role: 'user', content: [picture] },
  answer: { role: 'assistant', content: [{ type: 'text', text: 'an answer' }] },
  thought: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'so' },
    ],
  },
  call: { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'x', input: {} }] },
  result: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'long' }] },
};

const cases: readonly {
  readonly why: string;
  readonly words: readonly (keyof typeof wire)[];
  readonly steps: readonly (readonly Edit[])[];
  readonly changes: string;
}[] = [
  {
    why: 'a note before a result that became shorter is not that result',
    words: ['text', 'call', 'result', 'text'],
    steps: [
      [
        { type: 'insert', before: 2, text: 'a note' },
        { type: 'rewrite', message: 2, block: 0, text: 'short' },
      ],
    ],
    changes: 'kept 0>0, kept 1>1, new >2, changed 2>3, kept 3>4',
  },
  {
    why: 'a summary before a message that lost its picture is not that message',
    words: ['text', 'answer', 'picture', 'answer'],
    steps: [
      [
        { type: 'summarize', start: 1, end: 2, text: summaryMessageText('all before') },
        { type: 'strip', message: 2, block: 0, text: '[picture]' },
      ],
    ],
    changes: 'kept 0>0, gone 1>, new >1, changed 2>2, kept 3>3',
  },
  {
    why: "a note of the user's is not the answer that lost its reasoning",
    words: ['text', 'thought', 'text'],
    steps: [
      [
        { type: 'insert', before: 1, text: 'a note' },
        { type: 'strip', message: 1, block: 0 },
      ],
    ],
    changes: 'kept 0>0, new >1, changed 1>2, kept 2>3',
  },
  {
    why: 'neighbours that both became smaller keep their order',
    words: ['text', 'picture', 'picture', 'answer'],
    steps: [
      [
        { type: 'strip', message: 1, block: 0, text: '[first]' },
        { type: 'strip', message: 2, block: 0, text: '[second]' },
      ],
    ],
    changes: 'kept 0>0, changed 1>1, changed 2>2, kept 3>3',
  },
  {
    why: 'a message that left did not become its neighbour',
    words: ['answer', 'text', 'picture', 'answer'],
    steps: [
      [
        { type: 'drop', start: 1, end: 2 },
        { type: 'strip', message: 2, block: 0, text: '[picture]' },
      ],
    ],
    changes: 'kept 0>0, gone 1>, changed 2>1, kept 3>2',
  },
  {
    why: 'a message that lost all it had is gone',
    words: ['text', 'picture', 'answer'],
    steps: [[{ type: 'strip', message: 1, block: 0 }]],
    changes: 'kept 0>0, gone 1>, kept 2>1',
  },
  {
    why: 'what became smaller in one step and left in the next is gone',
    words: ['text', 'call', 'result', 'text'],
    steps: [[{ type: 'rewrite', message: 2, block: 0, text: 'short' }], [{ type: 'drop', start: 1, end: 3 }]],
    changes: 'kept 0>0, gone 1>, gone 2>, kept 3>1',
  },
];

describe('diffMessages', () => {
  it.each(cases)('knows that $why', ({ words, steps, changes }) => {
    const before = anthropicMessages.read(deepFreeze(words.map((word) => structuredClone(wire[word]))));
    const context = strategyContext();
    const compacted = finishPlan(before, { steps }, context, { strategy: 'test', reason: 'test' });
    const diff = diffMessages(before, compacted, context.estimator);

    expect(
      diff
        .map((entry) => `${entry.change} ${entry.before?.index ?? ''}>${entry.after?.index ?? ''}`)
        .join(', '),
    ).toBe(changes);
  });
});
