import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { legalCuts } from '../../conversation/cuts.ts';
import type { Message } from '../../conversation/message.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import { type PinLimits, type PinOptions, pinnedMessages, spansOf } from './pins.ts';

const user = (content: string) => anthropicMessages.readMessage({ role: 'user', content });
const assistant = (text: string) =>
  anthropicMessages.readMessage({ role: 'assistant', content: [{ type: 'text', text }] });

describe('pinned messages', () => {
  it.each([
    { shape: '', pinned: [] },
    { shape: 'u', pinned: [0] },
    { shape: 'uau', pinned: [0, 2] },
    { shape: 'uauaua', pinned: [0, 4] },
    { shape: 'ucrcrcr', pinned: [0] },
    { shape: 'crcr', pinned: [] },
    { shape: 'auau', pinned: [1, 3] },
  ])('of $shape are $pinned: the first and the last text of the user', ({ shape, pinned }) => {
    expect([...pinnedMessages(messagesOfShape(shape))].toSorted((left, right) => left - right)).toEqual(
      pinned,
    );
  });

  it('hold every system message, wherever it stands', () => {
    const { messages } = openaiChat.read([
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'developer', content: 'late rules' },
      { role: 'assistant', content: 'c' },
    ]);

    expect(pinnedMessages(messages)).toEqual(new Set([0, 1, 3]));
  });

  it('hold what a pattern is found in, results included, also for patterns that remember a place', () => {
    const messages = messagesOfShape('ucrcrau');

    for (const pattern of [/text 2/, /text 2/g, /TEXT 2/iy]) {
      for (const _time of ['once', 'again'])
        expect(pinnedMessages(messages, { patterns: [pattern] })).toEqual(new Set([0, 6, 2]));
    }
    expect(pinnedMessages(messages, { patterns: [/text 4/, /answer/] })).toEqual(new Set([0, 4, 5, 6]));
  });

  it('are never a summary of ours: it is no text of the user', () => {
    const messages = [
      user(summaryMessageText('one')),
      user('task'),
      assistant('ok'),
      user(summaryMessageText('two')),
    ];

    expect(pinnedMessages(messages)).toEqual(new Set([1]));
  });

  it('hold the task behind what a harness has put in front of it', () => {
    const messages = [
      user('<INSTRUCTIONS>be brief</INSTRUCTIONS>'),
      user('<environment_context>linux</environment_context>'),
      user('mend the parser'),
      assistant('ok'),
      user('go on'),
    ];

    expect(pinnedMessages(messages)).toEqual(new Set([0, 2, 4]));
  });

  it('are never the summary of another harness: it is about the user, not by the user', () => {
    const handover =
      'This session is being continued from a previous conversation that ran out of context. Long.';
    const messages = [user(handover), assistant('ok'), user('now the tests'), assistant('ok'), user('go')];

    expect(pinnedMessages(messages)).toEqual(new Set([2, 4]));
  });

  it('are never a summary of ours, even where it quotes what a pattern looks for', () => {
    const messages = [
      user('task KEEP'),
      user(summaryMessageText('they said KEEP')),
      assistant('ok'),
      user('go'),
    ];

    expect(pinnedMessages(messages, { patterns: [/KEEP/] })).toEqual(new Set([0, 3]));
  });
});

describe('spans', () => {
  test.prop([fc.stringMatching(/^[uacr]{0,16}$/)])('are the list, cut where it may be cut', (shape) => {
    const messages = messagesOfShape(shape.replaceAll(/(?<!c)r/g, 'a'));
    const spans = spansOf(messages);
    const ends = spans.map(({ end }) => end);

    expect([0, ...ends]).toEqual(legalCuts(messages));
    expect(spans.map(({ start }) => start)).toEqual([0, ...ends].slice(0, -1));
  });

  it('with a pinned message in them are pinned whole', () => {
    const spans = spansOf(messagesOfShape('ucrau'), { patterns: [/text 2/] });

    expect(spans).toEqual([
      { start: 0, end: 1, isPinned: true },
      { start: 1, end: 3, isPinned: true },
      { start: 3, end: 4, isPinned: false },
      { start: 4, end: 5, isPinned: false },
    ]);
  });

  const pinnedIn = (messages: readonly Message[], ...given: [PinOptions?, PinLimits?]) =>
    spansOf(messages, ...given).flatMap(({ start, isPinned }) => (isPinned ? [start] : []));

  it.each([
    { shape: 'u', pinned: [0] },
    { shape: 'uau', pinned: [0] },
    { shape: 'auau', pinned: [1] },
    { shape: 'crcr', pinned: [] },
  ])(
    'of $shape hold the first text of the user, and not the last, which can be quoted',
    ({ shape, pinned }) => {
      expect(pinnedIn(messagesOfShape(shape))).toEqual(pinned);
    },
  );

  it('hold the last text of the user where it is more than text, or a pattern is found in it', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    };
    const shown = anthropicMessages.readMessage({
      role: 'user',
      content: [{ type: 'text', text: 'look' }, image],
    });

    expect(pinnedIn([user('task'), assistant('ok'), shown, assistant('ok')])).toEqual([0, 2]);
    expect(pinnedIn(messagesOfShape('uaua'), { patterns: [/question 2/] })).toEqual([0, 2]);
  });

  it('hold the first words of the user behind what a harness has put in front', () => {
    const harness = user('<environment_context>linux</environment_context>');

    expect(pinnedIn([harness, user('mend it'), assistant('ok'), user('go on'), assistant('ok')])).toEqual([
      0, 1,
    ]);
  });

  it('hold a summary of the provider with all that stands before it: it cannot be had again', () => {
    const border = anthropicMessages.readMessage({
      role: 'assistant',
      content: [{ type: 'compaction', content: 'what was' }],
    });

    expect(spansOf([user('task'), border, user('go on'), assistant('ok')])).toMatchObject([
      { start: 0, end: 2, isPinned: true },
      { start: 2, isPinned: false },
      { start: 3, isPinned: false },
    ]);
  });

  it('let go of texts that are too long, and of system messages that are not among those to stay', () => {
    const { messages } = openaiChat.read([
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'a task' },
      { role: 'assistant', content: 'b' },
      { role: 'system', content: 'late rules' },
      { role: 'assistant', content: 'c' },
    ]);

    expect(pinnedIn(messages)).toEqual([0, 1, 3]);
    expect(pinnedIn(messages, {}, { isShortEnough: () => false })).toEqual([0, 3]);
    expect(pinnedIn(messages, {}, { systemMessages: new Set([0]) })).toEqual([0, 1]);
  });
});
