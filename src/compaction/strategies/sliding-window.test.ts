import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { readOpenings } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { readConversation } from '../../formats/registry.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

/** Letters of what is left of a shape. */
async function left(shape: string, options: Readonly<Record<string, unknown>> = {}, pins = {}) {
  const messages = messagesOfShape(shape);
  const conversation = anthropicMessages.read(messages.map(({ raw }) => raw));
  const outcome = await createStrategy('sliding-window', options).compact(
    conversation,
    strategyContext({ pins }),
  );
  if (outcome.status !== 'compacted') return outcome.reason;
  const places = outcome.conversation.messages.map(({ raw }) => conversation.frame.list.indexOf(raw));
  return places.map((place) => shape[place]).join('');
}

/** The messages that are left when so many stay. */
async function leftOf(format: string, list: readonly unknown[], keepLast: number) {
  const strategy = createStrategy('sliding-window', { keepLast });
  const outcome = await strategy.compact(readConversation(deepFreeze(list), format), strategyContext());
  return changeOf(outcome)?.conversation.messages.map(({ raw }) => raw);
}

describe('sliding-window', () => {
  it('keeps the last ten unless told otherwise, and the first question', async () => {
    const long = 'ua'.repeat(15);

    expect(await left(long)).toBe(`u${'ua'.repeat(5)}`);
    expect(await left(long, { keepLast: 3 })).toBe('uaua');
    expect(await left(long, { keepLast: 29 })).toBe('nothing-to-do');
    expect(await left('ua'.repeat(5))).toBe('short-enough');
  });

  it('keeps all that the model has not answered, however much it is', async () => {
    expect(await left('u'.repeat(30))).toBe('nothing-to-do');
    expect(await left(`uau${'u'.repeat(20)}`, { keepLast: 2 })).toBe(`uu${'u'.repeat(20)}`);
    expect(await left('uaucr', { keepLast: 1 })).toBe('uucr');
  });

  it('quotes the newest request where it leaves', async () => {
    const conversation = anthropicMessages.read(messagesOfShape('uaucrcrcr').map(({ raw }) => raw));
    const outcome = await createStrategy('sliding-window', { keepLast: 2 }).compact(
      conversation,
      strategyContext(),
    );
    const { messages } = changeOf(outcome)!.conversation;

    expect(messages).toHaveLength(4);
    expect(readOpenings(messages[1]!)).toEqual([{ kind: 'request', text: 'question 2' }]);
  });

  it.each([
    { shape: 'uauau', keepLast: 2, kept: 'uau' },
    { shape: 'uaucrau', keepLast: 3, kept: 'ucrau' },
    { shape: 'ucrcrcr', keepLast: 2, kept: 'ucr' },
    { shape: 'ucrcrcr', keepLast: 3, kept: 'ucrcr' },
    { shape: 'uaua', keepLast: 4, kept: 'short-enough' },
    { shape: 'ua', keepLast: 10, kept: 'short-enough' },
    { shape: 'ucr', keepLast: 1, kept: 'nothing-to-do' },
  ])('leaves $kept of $shape when the last $keepLast stay', async ({ shape, keepLast, kept }) => {
    expect(await left(shape, { keepLast })).toBe(kept);
  });

  it('leaves a system message behind a message of the user, though the one before it has left', async () => {
    const list = [
      { role: 'user', content: 'Fire the kiln.' },
      { role: 'assistant', content: [{ type: 'compaction', content: 'It was built.' }] },
      { role: 'user', content: `Is it hot? ${'Look at the cones. '.repeat(20)}` },
      { role: 'system', content: 'Speak of degrees.' },
      { role: 'assistant', content: 'Nine hundred.' },
      { role: 'user', content: 'And now?' },
    ];

    expect(await leftOf('anthropic-messages', list, 3)).toEqual([
      ...list.slice(0, 2),
      expect.objectContaining({ role: 'user' }),
      ...list.slice(3),
    ]);
  });

  it('keeps an answer with the thought that led to it by way of a search', async () => {
    const list = [
      { role: 'user', content: 'When is high water?' },
      { role: 'assistant', content: 'Where?' },
      { role: 'user', content: 'In Brest.' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'tides' },
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        content: [{ type: 'output_text', text: 'At noon.' }],
      },
      { role: 'user', content: 'And low water?' },
    ];

    expect(await leftOf('openai-responses', list, 2)).toEqual([list[0], ...list.slice(3)]);
  });

  it('keeps what is pinned by a pattern, with its round', async () => {
    expect(await left('ucrcrcr', { keepLast: 2 })).toBe('ucr');
    expect(await left('ucrcrcr', { keepLast: 2 }, { patterns: [/text 2/] })).toBe('ucrcr');
  });
});
