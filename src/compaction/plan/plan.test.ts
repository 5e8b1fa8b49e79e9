import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Step, steps } from '../../../test/support/conversations.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { stepWriters, type Writer } from '../../../test/support/step-writers.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { type Conversation, withMessages, writeConversation } from '../../conversation/format.ts';
import { type Block, type Message, textOf } from '../../conversation/message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { findFormat, formats } from '../../formats/registry.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { applyPlan, type Edit, undoPlan } from './plan.ts';
import { writeReceipt } from './receipt.ts';

const allWriters = formats.map(({ name }): [string, Writer | undefined] => [name, stepWriters[name]?.write]);

/** Numbers that make a sound step for any list: what becomes of each message, in order. */
const choices = fc.array(
  fc.record({
    act: fc.constantFrom('keep', 'keep', 'drop', 'summarize', 'insert', 'rewrite', 'strip', 'substitute'),
    length: fc.integer({ min: 1, max: 3 }),
    block: fc.nat(5),
    text: fc.string({ maxLength: 12 }),
  }),
  { maxLength: 20 },
);

type Choice = typeof choices extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

/** Edits that overlap nowhere and point at what is there. */
function soundEdits(messages: readonly Message[], list: readonly Choice[]): readonly Edit[] {
  const edits: Edit[] = [];
  let index = 0;
  for (const { act, length, block, text } of list) {
    const message = messages[index];
    if (message === undefined) break;
    if (act === 'drop' || act === 'summarize') {
      const end = Math.min(index + length, messages.length);
      edits.push(act === 'drop' ? { type: act, start: index, end } : { type: act, start: index, end, text });
      index = end;
      continue;
    }
    if (act === 'insert') edits.push({ type: act, before: index, text });
    else if (act !== 'keep') edits.push(...blockEdit(message, index, { act, block, text }));
    index++;
  }
  return edits;
}

function blockEdit(
  { blocks }: Message,
  message: number,
  { act, block, text }: Pick<Choice, 'act' | 'block' | 'text'>,
): readonly Edit[] {
  if (blocks.length === 0) return [];
  const place = { message, block: block % blocks.length };
  if (act === 'rewrite') {
    return blocks[place.block]?.type === 'tool-result' ? [{ type: 'rewrite', ...place, text }] : [];
  }
  if (act === 'strip') return [{ type: 'strip', ...place }];
  // Text can stand where text stood; it is no reasoning and no call.
  return blocks[place.block]?.type === 'text' ? [{ type: 'strip', ...place, text }] : [];
}

const plain = createTokenEstimator();
const runs = { numRuns: 150 };

describe.each(allWriters)('a plan in %s', (name, write) => {
  const format = findFormat(name)!;
  const read = (list: readonly Step[]): Conversation => format.read(deepFreeze(write!(list)));

  it('has conversations to be tried on', () => {
    expect(write, 'add a line to `stepWriters` of test/support/step-writers.ts').toBeDefined();
  });

  test.prop([steps, fc.array(choices, { minLength: 1, maxLength: 3 })], runs)(
    'is undone exactly, however many steps it has, also by way of JSON, and changes nothing it is given',
    (list, stepChoices) => {
      const conversation = read(list);
      const plan = planFor(conversation, stepChoices);
      const applied = applyPlan(conversation, plan);
      const undone = undoPlan(applied.conversation, applied.undo);

      expect(writeConversation(undone)).toBe(conversation.frame.body);
      expect(undone.messages).toEqual(conversation.messages);
      const stored = JSON.parse(JSON.stringify({ undo: applied.undo, plan }));
      expect(writeConversation(undoPlan(applied.conversation, stored.undo))).toEqual(conversation.frame.body);
      expect(writeConversation(applyPlan(conversation, stored.plan).conversation)).toEqual(
        writeConversation(applied.conversation),
      );
    },
  );

  test.prop([steps, steps, fc.array(choices, { minLength: 1, maxLength: 3 })], runs)(
    'is undone in a conversation that has gone on, and all that was added stays behind the original',
    (list, later, stepChoices) => {
      const conversation = read(list);
      const added = read(later).messages;
      const { conversation: after, undo } = applyPlan(conversation, planFor(conversation, stepChoices));
      const grown = withMessages(after, [...after.messages, ...added]);
      const undone = undoPlan(grown, undo);

      expect(undone.messages).toEqual([...conversation.messages, ...added]);
    },
  );

  test.prop([steps, fc.array(choices, { minLength: 1, maxLength: 3 })], runs)(
    'leaves a receipt whose runs are the list, and whose tokens are those of the output counted afresh',
    (list, stepChoices) => {
      const conversation = read(list);
      const applied = applyPlan(conversation, planFor(conversation, stepChoices));
      const receipt = writeReceipt(conversation, applied, { estimator: plain, strategy: 'test' });

      expect(receipt.runs.map(({ start }) => start)).toEqual(
        receipt.runs.map((_run, index) => receipt.runs[index - 1]?.end ?? 0),
      );
      expect(receipt.runs.at(-1)?.end).toBe(conversation.messages.length);
      expect(receipt.runs.every(({ fate }, index) => fate !== receipt.runs[index - 1]?.fate)).toBe(true);
      const output = format.read(structuredClone(writeConversation(applied.conversation)));
      expect(receipt.tokensAfter).toBe(Math.round(requestTokens(output, createTokenEstimator())));
      expect(receipt.messagesAfter).toBe(output.messages.length);
    },
  );

  test.prop([steps, choices, fc.nat(30), fc.nat(30)], runs)(
    'is refused when its edits overlap or point outside the list',
    (list, first, place, beyond) => {
      const conversation = read(list);
      const { length } = conversation.messages;
      const at = place % length;
      const sound = soundEdits(conversation.messages, first);
      const over: Edit = { type: 'drop', start: at, end: at + 1 };
      const outside: readonly Edit[] = [
        { type: 'drop', start: at, end: length + 1 + beyond },
        { type: 'summarize', start: -1 - beyond, end: at + 1, text: 'x' },
        { type: 'insert', before: length + 1 + beyond, text: 'x' },
        { type: 'strip', message: length + beyond, block: 0 },
        { type: 'rewrite', message: -1 - beyond, block: 0, text: 'x' },
      ];

      for (const edit of outside) expectRefused(conversation, [...sound, edit]);
      expectRefused(conversation, [over, over]);
      expectRefused(conversation, [over, { type: 'summarize', start: 0, end: length, text: 'x' }]);
    },
  );
});

function planFor(conversation: Conversation, stepChoices: readonly (readonly Choice[])[]) {
  const planned: (readonly Edit[])[] = [];
  for (const list of stepChoices) {
    const { messages } = applyPlan(conversation, { steps: planned }).conversation;
    planned.push(soundEdits(messages, list));
  }
  return { steps: planned };
}

function expectRefused(conversation: Conversation, edits: readonly Edit[]): void {
  const error = errorOf(() => applyPlan(conversation, { steps: [edits] }));
  expect(RoundfoldError.is(error), JSON.stringify(edits)).toBe(true);
  expect(error).toMatchObject({ code: 'usage', remedy: expect.stringMatching(/\w/) });
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** `u c r a u a` */
const shaped = () => anthropicMessages.read(messagesOfShape('ucraua').map(({ raw }) => raw));

describe('what does not fit a conversation is refused', () => {
  it.each<{ title: string; edits: readonly Edit[] }>([
    { title: 'an empty stretch', edits: [{ type: 'drop', start: 2, end: 2 }] },
    { title: 'a stretch that ends before it starts', edits: [{ type: 'drop', start: 3, end: 1 }] },
    { title: 'a start between two messages', edits: [{ type: 'drop', start: 0.5, end: 2 }] },
    { title: 'an end between two messages', edits: [{ type: 'drop', start: 0, end: 1.5 }] },
    { title: 'a start that is no number', edits: [{ type: 'drop', start: Number.NaN, end: 2 }] },
    {
      title: 'a place to insert that is no whole number',
      edits: [{ type: 'insert', before: 0.5, text: 'x' }],
    },
    {
      title: 'a message inserted into what leaves',
      edits: [
        { type: 'drop', start: 1, end: 4 },
        { type: 'insert', before: 2, text: 'lost' },
      ],
    },
    {
      title: 'a block changed in what leaves',
      edits: [
        { type: 'drop', start: 1, end: 4 },
        { type: 'rewrite', message: 2, block: 0, text: 'lost' },
      ],
    },
    { title: 'a block that is not there', edits: [{ type: 'strip', message: 0, block: 7 }] },
    { title: 'a block before the first', edits: [{ type: 'strip', message: 0, block: -1 }] },
    { title: 'an inner block that is not there', edits: [{ type: 'strip', message: 2, block: 0, inner: 4 }] },
    { title: 'an inner block of a text', edits: [{ type: 'strip', message: 0, block: 0, inner: 0 }] },
    { title: 'a rewrite of a text', edits: [{ type: 'rewrite', message: 0, block: 0, text: 'x' }] },
    {
      title: 'two rewrites of one result',
      edits: [
        { type: 'rewrite', message: 2, block: 0, text: 'x' },
        { type: 'rewrite', message: 2, block: 0, text: 'y' },
      ],
    },
    {
      title: 'a block that leaves and is rewritten',
      edits: [
        { type: 'strip', message: 2, block: 0 },
        { type: 'rewrite', message: 2, block: 0, text: 'y' },
      ],
    },
  ])('$title', ({ edits }) => {
    expectRefused(shaped(), edits);
  });
});

describe('edits', () => {
  const textsOf = ({ messages }: Conversation) =>
    messages.map(({ blocks }) => blocks.map((block: Block) => textOf(block)).join('|'));
  const apply = (...edits: readonly Edit[]) => applyPlan(shaped(), { steps: [edits] });

  it('come out the same in whatever order a step lists them', () => {
    const edits: readonly Edit[] = [
      { type: 'insert', before: 0, text: 'first' },
      { type: 'summarize', start: 1, end: 3, text: 'sum' },
      { type: 'drop', start: 4, end: 5 },
    ];

    expect(textsOf(apply(...edits.toReversed()).conversation)).toEqual(textsOf(apply(...edits).conversation));
    expect(textsOf(apply(...edits).conversation)).toEqual([
      'first',
      'question 0',
      'sum',
      'answer 3',
      'answer 5',
    ]);
  });

  it('tell the fate of every message', () => {
    const { fates } = apply(
      { type: 'summarize', start: 0, end: 1, text: 'sum' },
      { type: 'rewrite', message: 2, block: 0, text: 'short' },
      { type: 'drop', start: 3, end: 4, isSummarised: true },
      { type: 'drop', start: 4, end: 5 },
    );

    expect(fates).toEqual(['summarised', 'verbatim', 'reduced', 'summarised', 'dropped', 'verbatim']);
  });

  it('are not undone in a conversation that is shorter than the one they made', () => {
    const conversation = shaped();
    const { conversation: after, undo } = applyPlan(conversation, {
      steps: [[{ type: 'drop', start: 1, end: 3 }]],
    });
    const shorter = withMessages(after, after.messages.slice(0, -1));

    expect(undo.length).toBe(4);
    expect(errorOf(() => undoPlan(shorter, undo))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('3 messages, where the record is about 4'),
      remedy: expect.stringMatching(/\w/),
    });
  });

  it('may put several texts in front of a message of ours, and call what leaves summarised', () => {
    const { conversation, fates } = applyPlan(shaped(), {
      steps: [
        [
          { type: 'drop', start: 0, end: 3, isSummarised: true },
          { type: 'drop', start: 3, end: 4 },
          { type: 'insert', before: 4, text: 'S', opening: ['one', 'two'], isSummary: true },
        ],
      ],
    });

    expect(fates.slice(0, 5)).toEqual(['summarised', 'summarised', 'summarised', 'dropped', 'verbatim']);
    expect(conversation.messages[0]?.blocks.map(textOf)).toEqual(['one', 'two', 'S']);
    expect(conversation.messages).toHaveLength(3);
  });

  it('keep the fate of an earlier step unless a later one goes further', () => {
    const { fates } = applyPlan(shaped(), {
      steps: [
        [{ type: 'rewrite', message: 2, block: 0, text: 'short' }],
        [{ type: 'drop', start: 0, end: 1 }],
        [{ type: 'drop', start: 0, end: 2 }],
      ],
    });

    expect(fates).toEqual(['dropped', 'dropped', 'dropped', 'verbatim', 'verbatim', 'verbatim']);
  });

  it('let a message leave that has nothing left in it', () => {
    const { conversation, fates } = apply({ type: 'strip', message: 3, block: 0 });

    expect(conversation.messages.length).toBe(5);
    expect(fates[3]).toBe('dropped');
  });

  it('may put a message at the very end', () => {
    expect(textsOf(apply({ type: 'insert', before: 6, text: 'last' }).conversation).at(-1)).toBe('last');
  });

  it('of no step at all give the very same conversation', () => {
    const conversation = shaped();

    expect(applyPlan(conversation, { steps: [] }).conversation).toBe(conversation);
  });

  it('forget what a provider reported for the longer context, and undo knows it again', () => {
    const answer = (text: string, promptTokens: number) => ({
      role: 'assistant',
      content: [{ type: 'text', text }],
      usage: { input_tokens: promptTokens, output_tokens: 1 },
    });
    const ask = (content: string) => ({ role: 'user', content });
    const conversation = anthropicMessages.read([
      ask('a'),
      answer('b', 100),
      ask('c'),
      answer('d', 200),
      ask('e'),
    ]);
    const applied = applyPlan(conversation, { steps: [[{ type: 'drop', start: 2, end: 3 }]] });
    const reported = ({ messages }: Conversation) => messages.map(({ usage }) => usage?.promptTokens);

    expect(reported(applied.conversation)).toEqual([undefined, 100, undefined, undefined]);
    expect(reported(undoPlan(applied.conversation, applied.undo))).toEqual(reported(conversation));
  });
});
