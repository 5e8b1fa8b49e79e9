import { describe, expect, it } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { type Message, textOf } from '../../conversation/message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createStrategy } from './registry.ts';

interface Use {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output?: string;
  readonly isError?: boolean;
}

const read = (path: string, more = {}): Use => ({ name: 'read_file', input: { path, ...more } });
const edit = (path: string): Use => ({ name: 'edit_file', input: { path }, output: 'ok' });
const LONG = 'line of code\n'.repeat(60);

function session(uses: readonly Use[]) {
  return anthropicMessages.read([
    { role: 'user', content: 'task' },
    ...uses.flatMap(({ name, input, output = LONG, isError }, index) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name, input }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${index}`,
            content: output,
            ...(isError === true ? { is_error: true } : {}),
          },
        ],
      },
    ]),
  ]);
}

const other: readonly Use[] = [
  { name: 'bash', input: { command: 'ls' }, output: 'x' },
  { name: 'bash', input: { command: 'ls' }, output: 'y' },
];

/** Places of the uses whose results became notes. */
async function collapsed(uses: readonly Use[], options = {}, pins = {}) {
  const conversation = session(uses);
  const outcome = await createStrategy('collapse-reads', options).compact(
    conversation,
    strategyContext({ pins }),
  );
  if (outcome.status !== 'compacted') return [];
  const { messages } = outcome.conversation;
  expect(messages.length).toBe(conversation.messages.length);
  return uses.flatMap((_use, index) =>
    resultText(messages[2 + index * 2]!).startsWith('[older') ? [index] : [],
  );
}

function resultText({ blocks }: Message): string {
  return blocks.map((block) => textOf(block)).join('');
}

describe('collapse-reads', () => {
  it.each<{ title: string; uses: readonly Use[]; notes: readonly number[] }>([
    { title: 'a file read twice', uses: [read('a'), read('a')], notes: [0] },
    { title: 'a file read three times', uses: [read('a'), read('a'), read('a')], notes: [0, 1] },
    { title: 'two files', uses: [read('a'), read('b')], notes: [] },
    { title: 'a file changed since', uses: [read('a'), edit('a')], notes: [0] },
    { title: 'a file changed and read again', uses: [read('a'), edit('a'), read('a')], notes: [0] },
    { title: 'a file changed before it was read', uses: [edit('a'), read('a')], notes: [] },
    { title: 'another file changed', uses: [read('a'), edit('b')], notes: [] },
    { title: 'two parts of a file', uses: [read('a', { offset: 1 }), read('a', { offset: 90 })], notes: [] },
    { title: 'the same part twice', uses: [read('a', { offset: 1 }), read('a', { offset: 1 })], notes: [0] },
    { title: 'a part, then the whole', uses: [read('a', { offset: 1 }), read('a')], notes: [0] },
    { title: 'the whole, then a part', uses: [read('a'), read('a', { offset: 1 })], notes: [] },
    { title: 'a second read that failed', uses: [read('a'), { ...read('a'), isError: true }], notes: [] },
    { title: 'a first read that failed', uses: [{ ...read('a'), isError: true }, read('a')], notes: [] },
    { title: 'a change that failed', uses: [read('a'), { ...edit('a'), isError: true }], notes: [] },
    {
      title: 'a shell that prints it',
      uses: [{ name: 'bash', input: { command: 'cat a' } }, read('a')],
      notes: [0],
    },
    { title: 'a file named __proto__', uses: [read('__proto__'), read('__proto__')], notes: [0] },
  ])('of $title notes $notes', async ({ uses, notes }) => {
    expect(await collapsed([...uses, ...other])).toEqual(notes);
  });

  it('says what became of the file, and keeps the call', async () => {
    const outcome = await createStrategy('collapse-reads').compact(
      session([read('src/a.ts'), read('src/a.ts'), read('b.ts'), edit('b.ts'), ...other]),
      strategyContext(),
    );
    const texts = outcome.status === 'compacted' ? outcome.conversation.messages.map(resultText) : [];

    expect(texts[2]).toMatch(/src\/a\.ts.*read again/);
    expect(texts[6]).toMatch(/b\.ts.*changed/);
    expect(texts[4]).toBe(LONG);
  });

  it('leaves the newest two rounds alone, or as many as keepRounds says', async () => {
    const uses = [read('a'), read('a'), read('a')];

    expect(await collapsed(uses)).toEqual([0]);
    expect(await collapsed(uses, { keepRounds: 0 })).toEqual([0, 1]);
    expect(await collapsed(uses, { keepRounds: 3 })).toEqual([]);
  });

  it('leaves results below 64 tokens alone, or below minTokens', async () => {
    const uses = [{ ...read('a'), output: 'word '.repeat(40) }, read('a'), ...other];

    expect(await collapsed(uses)).toEqual([]);
    expect(await collapsed(uses, { minTokens: 10 })).toEqual([0]);
    expect(await collapsed([read('a'), read('a'), ...other], { minTokens: 5000 })).toEqual([]);
  });

  it('leaves a result that a pattern pins', async () => {
    const uses = [{ ...read('a'), output: `KEEP ${LONG}` }, read('a'), ...other];

    expect(await collapsed(uses)).toEqual([0]);
    expect(await collapsed(uses, {}, { patterns: [/KEEP/] })).toEqual([]);
  });

  it('has nothing more to do when it ran before', async () => {
    const strategy = createStrategy('collapse-reads');
    const outcome = await strategy.compact(session([read('a'), read('a'), ...other]), strategyContext());
    const again =
      outcome.status === 'compacted'
        ? await strategy.compact(outcome.conversation, strategyContext())
        : outcome;

    expect(again).toMatchObject({ status: 'skipped', reason: 'nothing-to-do' });
  });
});
