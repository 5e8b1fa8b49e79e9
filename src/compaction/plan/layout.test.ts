import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { steps } from '../../../test/support/conversations.ts';
import { brokenRules } from '../../../test/support/conversations-judge.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { lastSentWords } from '../../../test/support/sent-words.ts';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { currentTurnStart, legalCuts } from '../../conversation/cuts.ts';
import type { Conversation, Format } from '../../conversation/format.ts';
import { isUserText, type Message, textOf } from '../../conversation/message.ts';
import {
  DROPPED_TEXT,
  openingText,
  readOpenings,
  summaryMessageText,
} from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import { findFormat } from '../../formats/registry.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { dropOldest, findFloor, layOut, layoutEdits } from './layout.ts';
import { type PinOptions, spansOf } from './pins.ts';
import { applyPlan } from './plan.ts';
import { beginWithAnswer } from './tail.ts';

/**
 * Messages by a letter each, with their place as text: `u` user, `a` assistant, `s` system, `p` and `q` the same for a user
 * and an assistant with a text that is pinned.
 */
function conversationOf(letters: string, format: Format): Conversation {
  const roles = new Map(
    [...'uasp'].map((letter, at) => [letter, ['user', 'assistant', 'system', 'user'][at]]),
  );
  return format.read(
    deepFreeze(
      [...letters].map((letter, place) => ({
        role: roles.get(letter) ?? 'assistant',
        content: `${'pq'.includes(letter) ? 'pin' : letter} ${place}`,
      })),
    ),
  );
}

const pins: PinOptions = { patterns: [/^pin/] };

function layoutOf(conversation: Conversation, cut: number) {
  return layOut(conversation, { spans: spansOf(conversation.messages, pins), cut });
}

/** What a layout makes, with a summary of one word. */
function apply(conversation: Conversation, cut: number): readonly Message[] {
  const edits = layoutEdits(layoutOf(conversation, cut), summaryMessageText('S'), { isSummary: true });
  return applyPlan(conversation, { steps: [edits] }).conversation.messages;
}

/** Each message as its text; ours as what stands in front of the summary, in brackets. */
function written(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      const openings = readOpenings(message)?.map(({ kind, text }) => `${kind}: ${text}`);
      return openings === undefined ? message.blocks.map(textOf).join(' ') : `[${openings.join(', ')}]`;
    })
    .join(' | ');
}

describe('a layout', () => {
  it.each<{ letters: string; cut: number; format: Format; gives: string }>([
    // What is pinned, ours, the tail.
    { letters: 'uauau', cut: 4, format: anthropicMessages, gives: 'u 0 | [] | u 4' },
    { letters: 'uaqaua', cut: 4, format: anthropicMessages, gives: 'u 0 | pin 2 | [] | u 4 | a 5' },
    // The newest request is quoted where it leaves; what stays right before the tail is part of it.
    { letters: 'uauaqa', cut: 5, format: anthropicMessages, gives: 'u 0 | [request: u 2] | pin 4 | a 5' },
    { letters: 'uapaaa', cut: 5, format: anthropicMessages, gives: 'u 0 | pin 2 | [] | a 5' },
    // Texts of the user join ours where the two sides have to take turns, as far as they stand next to it.
    { letters: 'uauau', cut: 3, format: openaiChat, gives: '[said: u 0] | a 3 | u 4' },
    { letters: 'uapaua', cut: 3, format: openaiChat, gives: '[said: u 0, said: pin 2] | a 3 | u 4 | a 5' },
    { letters: 'suauaua', cut: 4, format: openaiChat, gives: 's 0 | [said: u 1] | a 4 | u 5 | a 6' },
    {
      letters: 'uqapaua',
      cut: 4,
      format: openaiChat,
      gives: 'u 0 | pin 1 | [said: pin 3] | a 4 | u 5 | a 6',
    },
    // System messages of Anthropic stand before an answer, behind ours; or are quoted.
    { letters: 'usauaua', cut: 4, format: anthropicMessages, gives: 'u 0 | [] | s 1 | a 4 | u 5 | a 6' },
    { letters: 'usauaua', cut: 5, format: anthropicMessages, gives: 'u 0 | [system: s 1] | u 5 | a 6' },
    { letters: 'usquaua', cut: 5, format: anthropicMessages, gives: 'u 0 | s 1 | pin 2 | [] | u 5 | a 6' },
    {
      letters: 'uqusauquau',
      cut: 9,
      format: anthropicMessages,
      gives: 'u 0 | pin 1 | pin 6 | [system: s 3] | u 9',
    },
    // A list that began with an answer begins with the user.
    { letters: 'aaqaa', cut: 4, format: anthropicMessages, gives: '[] | pin 2 | a 4' },
  ])('of $letters cut at $cut in $format.name is $gives', ({ letters, cut, format, gives }) => {
    expect(written(apply(conversationOf(letters, format), cut))).toBe(gives);
  });

  it('needs a message of ours only where something has to stand in it', () => {
    const needs = (letters: string, cut: number, format: Format) =>
      layoutOf(conversationOf(letters, format), cut).needsMessage;

    expect(needs('uauau', 4, anthropicMessages)).toBe(false);
    expect(needs('uauaqa', 5, anthropicMessages)).toBe(true);
    expect(needs('uauau', 3, openaiChat)).toBe(true);
    expect(needs('aaqaa', 4, anthropicMessages)).toBe(true);
    expect(needs('aaqaa', 4, openaiChat)).toBe(false);
    // A tail that begins with a system message, behind an answer and behind a message of the user.
    expect(needs('uqusaua', 3, anthropicMessages)).toBe(true);
    expect(needs('uqpausaua', 5, anthropicMessages)).toBe(false);
    expect(needs('uqusaua', 3, openaiChat)).toBe(false);
  });

  it('is drops that a summary speaks for, and one message; or drops alone', () => {
    const layout = layoutOf(conversationOf('uauaqa', anthropicMessages), 5);
    const opening = [openingText({ kind: 'request', text: 'u 2' })];
    const drop = { type: 'drop', start: 1, end: 4 };

    expect(layoutEdits(layout, 'S', { isSummary: true })).toEqual([
      { ...drop, isSummarised: true },
      { type: 'insert', before: 4, text: 'S', opening, isSummary: true },
    ]);
    expect(layoutEdits(layout, 'note', { isSummary: false })).toEqual([
      drop,
      { type: 'insert', before: 4, text: 'note', opening },
    ]);
    expect(layoutEdits(layout, undefined, { isSummary: false })).toEqual([drop]);
  });

  it('quotes the newest request as short as it is told to', () => {
    const conversation = conversationOf('uauaqa', anthropicMessages);
    const shorten = (text: string) => text.slice(0, 1);
    const { opening } = layOut(conversation, {
      spans: spansOf(conversation.messages, pins),
      cut: 5,
      shorten,
    });

    expect(opening).toEqual([{ kind: 'request', text: 'u' }]);
  });
});

/** Puts system messages where a provider takes them: between a message of the user and an answer. */
function withSystems(list: readonly unknown[], places: readonly number[]): readonly unknown[] {
  const roleAt = (index: number) => (list[index] as { role?: string } | undefined)?.role;
  return list.flatMap((message, index) => {
    const mayStand = places.includes(index) && roleAt(index) === 'user' && roleAt(index + 1) === 'assistant';
    return mayStand ? [message, { role: 'system', content: `rule ${index}` }] : [message];
  });
}

const systemPlaces = fc.uniqueArray(fc.nat(12), { maxLength: 4 });

describe.each(Object.entries(writers))('every layout in %s', (name, write) => {
  const format = findFormat(name)!;
  const takesSystems = name === 'anthropic-messages' || name === 'openai-chat';

  test.prop([steps, systemPlaces, fc.constantFrom(/^a/, /o/, /^never$/), fc.nat(40)], { numRuns: 200 })(
    'is legal, ends as the list ended, and accounts for every older message',
    (list, places, pattern, where) => {
      const raws = takesSystems ? withSystems(write(list), places) : write(list);
      const conversation = format.read(deepFreeze(raws));
      const { messages } = conversation;
      const cuts = legalCuts(messages).filter((cut) => cut <= currentTurnStart(messages));
      const cut = beginWithAnswer(messages, cuts[where % cuts.length] ?? 0, format);
      const layout = layOut(conversation, { spans: spansOf(messages, { patterns: [pattern] }), cut });
      fc.pre(layout.leaving.length > 0);
      const edits = layoutEdits(layout, summaryMessageText('S'), { isSummary: true });
      const after = applyPlan(conversation, { steps: [edits] }).conversation;

      const before = brokenRules(conversation);
      const worse = [...brokenRules(after)].filter(([rule, count]) => count > (before.get(rule) ?? 0));
      expect(worse).toEqual([]);

      const tail = messages.slice(layout.cut);
      expect(after.messages.slice(after.messages.length - tail.length).map(({ raw }) => raw)).toEqual(
        tail.map(({ raw }) => raw),
      );

      const left = layout.leaving.flatMap(({ start, end }) => [...messages.keys()].slice(start, end));
      expect([...left, ...layout.kept, ...layout.moved].toSorted((one, other) => one - other)).toEqual([
        ...messages.slice(0, layout.cut).keys(),
      ]);

      const ours = after.messages.flatMap((message, index) =>
        readOpenings(message) === undefined ? [] : [index],
      );
      expect(ours).toHaveLength(1);
      const [place = 0] = ours;
      const inFront = after.messages[place - 1];
      if (format.alternates && inFront !== undefined) expect(isUserText(inFront)).toBe(false);

      const all = after.messages.flatMap(({ blocks }) => blocks.map(textOf)).join('\n');
      for (const text of lastSentWords(messages)) expect(all).toContain(text);
    },
  );
});

function drop(
  shape: string,
  limit = shape.length,
  { format = anthropicMessages as Format, enough = 99 } = {},
) {
  const raws = messagesOfShape(shape).map(({ raw }) => raw);
  const conversation = { ...anthropicMessages.read(raws), format };
  return dropOldest(conversation, {}, { limit, isEnough: (dropped) => dropped.length >= enough });
}

describe('dropOldest', () => {
  it.each([
    { shape: '', limit: 0, drops: [] },
    { shape: 'u', limit: 1, drops: [] },
    { shape: 'uau', limit: 3, drops: [[1, 2]] },
    { shape: 'uaucra', limit: 4, drops: [[1, 2]] },
    { shape: 'ucrcrau', limit: 7, drops: [[1, 6]] },
    { shape: 'ucrcrau', limit: 4, drops: [[1, 3]] },
    { shape: 'ucrcrau', limit: 2, drops: [] },
    { shape: 'uauau', limit: 5, drops: [[1, 4]] },
  ])(
    'drops $drops of $shape up to $limit: whole stretches, never what is pinned',
    ({ shape, limit, drops }) => {
      const edits = drop(shape, limit);

      expect(edits).toEqual(drops.map(([start, end]) => ({ type: 'drop', start, end })));
    },
  );

  it('quotes the newest request where what follows it has begun to leave', () => {
    expect(drop('uaucrcra', 5)).toEqual([
      { type: 'drop', start: 1, end: 5 },
      {
        type: 'insert',
        before: 5,
        opening: [openingText({ kind: 'request', text: 'question 2' })],
        text: DROPPED_TEXT,
      },
    ]);
  });

  it('stops as soon as it is enough', () => {
    expect(drop('ucrcrcra', 8, { enough: 2 })).toEqual([{ type: 'drop', start: 1, end: 5 }]);
    expect(drop('ucrcrcra', 8, { enough: 0 })).toEqual([]);
  });

  it('leaves one list of edits for each gap between pinned messages', () => {
    const conversation = anthropicMessages.read(messagesOfShape('uaucrau').map(({ raw }) => raw));
    const edits = dropOldest(conversation, { patterns: [/text 4/] }, { limit: 7, isEnough: () => false });

    expect(edits).toEqual([
      { type: 'drop', start: 1, end: 3 },
      { type: 'drop', start: 5, end: 6 },
    ]);
  });

  it.each([
    { format: anthropicMessages as Format, inserts: [{ type: 'insert', before: 2, text: DROPPED_TEXT }] },
    { format: openaiChat as Format, inserts: [] },
  ])('puts a user message in front of an answer where $format.name wants one', ({ format, inserts }) => {
    expect(drop('crcr', 2, { format })).toEqual([{ type: 'drop', start: 0, end: 2 }, ...inserts]);
  });

  it('drops nothing of a list that is one response', () => {
    expect(drop('aa')).toEqual([]);
  });
});

/** One token for each character. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

interface Sizes {
  readonly system?: number;
  readonly tool?: number;
  readonly task?: number;
  readonly old?: number;
  readonly recent?: number;
}

function sizedConversation({ system = 1, tool = 1, task = 1, old = 1, recent = 1 }: Sizes) {
  const answer = (length: number) => ({
    role: 'assistant',
    content: [{ type: 'text', text: 'x'.repeat(length) }],
  });
  return anthropicMessages.read({
    system: 's'.repeat(system),
    tools: [{ name: 'probe', description: 'd'.repeat(tool), input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 't'.repeat(task) },
      answer(old),
      { role: 'user', content: 'and' },
      answer(recent),
    ],
  });
}

function floorOf(sizes: Sizes, cut = 2) {
  const conversation = sizedConversation(sizes);
  return findFloor(
    conversation,
    estimator,
    layOut(conversation, { spans: spansOf(conversation.messages), cut }),
  );
}

describe('the floor', () => {
  it.each([
    { sizes: { system: 5000 }, heaviest: 'the instructions' },
    { sizes: { tool: 5000 }, heaviest: 'the tool definitions' },
    { sizes: { task: 5000 }, heaviest: 'the pinned messages' },
    { sizes: { recent: 5000 }, heaviest: 'the newest rounds' },
  ])('names $heaviest with its tokens when that weighs most', ({ sizes, heaviest }) => {
    const floor = floorOf(sizes);

    expect(floor.heaviest).toMatch(new RegExp(`^${heaviest} \\(5\\d{3} tokens\\)$`));
    expect(floor.tokens).toBeGreaterThan(5000);
  });

  it('does not count what can be summarised', () => {
    expect(floorOf({ old: 90_000 })).toEqual(floorOf({ old: 1 }));
  });

  it('is the whole request when nothing may go', () => {
    const conversation = sizedConversation({ old: 700 });

    const layout = layOut(conversation, { spans: spansOf(conversation.messages), cut: 0 });

    expect(findFloor(conversation, estimator, layout).tokens).toBe(requestTokens(conversation, estimator));
  });
});
