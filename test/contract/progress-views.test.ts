import { createHash } from 'node:crypto';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { alignToGroup, atomicGroups, protectedHeadEnd } from '../../src/conversation/cuts.ts';
import { linkTools } from '../../src/conversation/index.ts';
import { shortenToolIds, shortToolId } from '../../src/formats/folded/short-tool-ids.ts';
import { unfoldView } from '../../src/formats/folded/unfold.ts';
import { type Message, writeConversation } from '../../src/index.ts';
import { nextView, originalCount, progressInput, targetProgress } from '../../src/keeper/progress.ts';
import { chat, chatShape, toolCall, viewOf } from '../support/chat-shapes.ts';
import { errorsOf, rawsOf } from '../support/small-sessions.ts';

const openaiChat = chat([]).format;
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

/** A call as Open WebUI folds it. */
const folded = (id: string) =>
  `<details type="tool_calls" done="true" id="${id}" name="ls" arguments="&quot;{}&quot;" result="&quot;ok ${id}&quot;" files="" embeds="">\n<summary>Tool Executed</summary>\n</details>\n`;

describe('a view with folded calls', () => {
  it.each([
    { title: 'plain text', content: 'hello', status: 'plain' },
    { title: 'markup of somebody else', content: '<details>x</details>', status: 'plain' },
    { title: 'a folded call', content: `Let me see.\n${folded('a')}So.`, status: 'unfolded' },
    { title: 'a call that is running', content: folded('a').replace('"true"', '"false"'), status: 'refused' },
  ])('$title is $status', ({ content, status }) => {
    expect(unfoldView(chat([{ role: 'assistant', content }])).status).toBe(status);
  });

  it('eight messages with folded calls unfold into the 27 that they stand for', () => {
    const idsOf = (turn: number) =>
      ['a', 'b', 'c'].slice(turn === 2 ? 1 : 0).map((letter) => `${letter}${turn}`);
    const question = (turn: number) => ({ role: 'user', content: `question ${turn}` });
    const answer = (turn: number) => ({ role: 'assistant', content: `Answer ${turn}.` });
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: `ok ${id}` });
    // Only the hidden list tells that two calls were made at once.
    const output = [
      ...['p', 'q'].map((id) => ({ type: 'function_call', call_id: id, name: 'ls', arguments: '{}' })),
      ...['p', 'q'].map((id) => ({ type: 'function_call_output', call_id: id, output: `ok ${id}` })),
      { type: 'message', content: [{ type: 'output_text', text: 'Answer 1.' }] },
    ];
    const list = [0, 1, 2, 3].flatMap((turn) => {
      if (turn === 1) return [question(1), { ...answer(1), output }];
      const content = `${idsOf(turn).map(folded).join('')}Answer ${turn}.`;
      return [question(turn), { role: 'assistant', content }];
    });
    const expanded = [0, 1, 2, 3].flatMap((turn) => {
      const calls =
        turn === 1
          ? [
              { role: 'assistant', content: null, tool_calls: ['p', 'q'].map((id) => toolCall(id)) },
              ...['p', 'q'].map(result),
            ]
          : idsOf(turn).flatMap((id) => [
              { role: 'assistant', content: null, tool_calls: [toolCall(id)] },
              result(id),
            ]);
      return [question(turn), ...calls, answer(turn)];
    });
    const { conversation } = unfoldView(chat(list));

    expect([list.length, expanded.length]).toEqual([8, 27]);
    expect(writeConversation(conversation)).toEqual(expanded);
    expect(errorsOf(conversation, expanded)).toBe(0);
  });

  it('no progress is made in a folded view, and the same conversation unfolded makes some', () => {
    const list = Array.from({ length: 6 }, (_one, turn) => [
      { role: 'user', content: `question ${turn}` },
      { role: 'assistant', content: `${folded(`c${turn}`)}Answer ${turn}.` },
    ]).flat();
    const conversation = chat(list);
    const { messages } = unfoldView(conversation).conversation;
    const options = { keepLast: 2, protectedHead: 1 };
    const run = (view: readonly Message[]) =>
      progressInput(view, { ...options, target: view.length, fits: () => true }).status;

    expect(targetProgress(conversation.messages, options)).toBe(1);
    expect(run(conversation.messages)).toBe('folded');
    expect(targetProgress(messages, options)).toBe(21);
    expect(run(messages)).toBe('ready');
  });

  it('a view that was refused makes no progress either', () => {
    const list = [
      ...chatShape('ua'),
      { role: 'assistant', content: folded('a').slice(0, -15) },
      ...chatShape('uaua'),
    ];
    const view = unfoldView(chat(list));

    expect(view.status).toBe('refused');
    expect(targetProgress(view.conversation.messages, { keepLast: 1, protectedHead: 0 })).toBe(0);
  });
});

const groupsIn = (shape: string) =>
  atomicGroups(chat(chatShape(shape)).messages)
    .map(({ start, end }) => `[${shape.slice(start, end)}]`)
    .join('');

describe('atomic groups and the head', () => {
  it.each([
    ['uCttaua', '[u][Ctta][u][a]'],
    ['uCtCtau', '[u][Ct][Cta][u]'],
    ['tuCt', '[t][u][Ct]'],
    ['uCtua', '[u][Ct][u][a]'],
    // By the letter this would be [u][C][u][t][a], which parts a call from its result.
    ['uCuta', '[u][Cut][a]'],
  ])('"%s" has the groups %s', (shape, groups) => {
    expect(groupsIn(shape)).toBe(groups);
  });

  it.each([
    { protectedHead: 0, aligned: [0, 1, 1, 1, 4, 5] },
    { protectedHead: 1, aligned: [1, 1, 1, 1, 4, 5] },
  ])(
    'cuts of u C t a u move back to $aligned behind a head of $protectedHead',
    ({ protectedHead, aligned }) => {
      const { messages } = chat(chatShape('uCtau'));

      expect([0, 1, 2, 3, 4, 5].map((index) => alignToGroup(messages, index, protectedHead))).toEqual(
        aligned,
      );
    },
  );

  it('the target is at the start of a group, in original coordinates', () => {
    const view = viewOf('sMuCtaua', 6);

    expect([1, 2, 3, 4, 5].map((keepLast) => targetProgress(view, { keepLast, protectedHead: 1 }))).toEqual([
      11, 10, 7, 7, 7,
    ]);
  });

  it.each([
    { shape: 'suaua', keepFirst: 1, head: 1 },
    { shape: 'ssuaua', keepFirst: 1, head: 2 },
    { shape: 'uaua', keepFirst: 0, head: 0 },
    { shape: 'suasua', keepFirst: 1, head: 1 },
    { shape: 'suaua', keepFirst: 3, head: 3 },
    { shape: 'uCtau', keepFirst: 2, head: 4 },
  ])('of "$shape" the first $head stay when $keepFirst should', ({ shape, keepFirst, head }) => {
    expect(protectedHeadEnd(chat(chatShape(shape)).messages, keepFirst)).toBe(head);
  });

  it('a late system message freezes nothing, and stays', () => {
    const view = viewOf('suausauaua');
    const options = { keepLast: 2, protectedHead: protectedHeadEnd(view, 1) };
    const target = targetProgress(view, options);
    const result = progressInput(view, { ...options, target, fits: () => true });
    const next = nextView(view, { ...options, format: openaiChat, summary: 'x', saved: target }) ?? [];

    expect(target).toBe(8);
    expect(result).toMatchObject({ status: 'ready', saved: 8 });
    expect(result.status === 'ready' && result.input.messages.map(({ role }) => role)).not.toContain(
      'system',
    );
    expect(next.filter(({ role }) => role === 'system')).toEqual([view[0], view[4]]);
    expect(next.slice(-2)).toEqual(view.slice(-2));
    expect(originalCount(next)).toBe(view.length);
  });
});

describe('long ids of tool calls', () => {
  const long = 'call_abcdefghijklmnopqrstuvwxyz_1234567890abcd';

  it('an id of 46 characters becomes one of 40', () => {
    expect(shortToolId(long, sha1)).toBe('call_abcdefghijklmnopqrstuvwxyz_1724d38a');
    expect(shortToolId(long.slice(0, 40), sha1)).toBe(long.slice(0, 40));
  });

  it('call and result keep their link', () => {
    const conversation = chat([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'I look.', tool_calls: [toolCall(long), toolCall('short')], name: 'bot' },
      { role: 'tool', tool_call_id: 'short', content: '1' },
      { role: 'tool', tool_call_id: long, content: '2', name: 'ls' },
    ]);
    const shortened = shortenToolIds(conversation, sha1);
    const id = 'call_abcdefghijklmnopqrstuvwxyz_1724d38a';

    expect(writeConversation(shortened)).toEqual(
      JSON.parse(JSON.stringify(rawsOf(conversation)).replaceAll(long, id)),
    );
    expect(shortened.messages[0]).toBe(conversation.messages[0]);
    expect(shortened.messages[2]).toBe(conversation.messages[2]);
    expect(shortenToolIds(shortened, sha1)).toBe(shortened);
  });

  test.prop([
    fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 38, maxLength: 50 }), { maxLength: 8 }),
  ])('different ids stay different, even when all of their hashes are the same', (ids) => {
    const unique = [...new Set(ids)];
    const calls = unique.flatMap((id) => [
      { role: 'assistant', content: null, tool_calls: [toolCall(id)] },
      { role: 'tool', tool_call_id: id, content: id },
    ]);
    const collides = (text: string) => (/\n(\d+)$/.exec(text)?.[1] ?? '').padStart(8, '0');
    const { messages } = shortenToolIds(chat(calls), collides);
    const short = messages.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool-call' ? [block.id ?? ''] : [])),
    );

    expect(new Set(short).size).toBe(unique.length);
    expect(short.every((id) => id.length <= 40)).toBe(true);
    expect(linkTools(messages).pairs).toHaveLength(unique.length);
  });
});
