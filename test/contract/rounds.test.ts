import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { describeRounds } from '../../src/compaction/strategies/index.ts';
import { largestRound, nameRound } from '../../src/conversation/index.ts';
import { groupRounds, type Message, readConversation } from '../../src/index.ts';
import { inspectConversation } from '../../src/report/inspection.ts';
import { steps } from '../support/conversations.ts';
import { oddLike } from '../support/odd-values.ts';
import { messagesOfShape, recordsOfWords, wordOf } from '../support/shapes.ts';
import { anthropic, estimator, rawsOf, toolSession } from '../support/small-sessions.ts';
import { writers } from '../support/step-writers.ts';

/** Records of responses with ids as their rounds: `[U1] [A1 T1]`. */
function inWords(words: string): string {
  const messages = Object.freeze(recordsOfWords(words));
  return groupRounds(messages)
    .map(({ start, end }) => `[${messages.slice(start, end).map(wordOf).join(' ')}]`)
    .join(' ');
}

/** The same for one letter per message, without ids. */
function inLetters(shape: string): string {
  return groupRounds(messagesOfShape(shape))
    .map(({ start, end }) => `[${shape.slice(start, end)}]`)
    .join(' ');
}

const isWhole = (messages: readonly Message[]) =>
  groupRounds(messages).flatMap(({ start, end }) => messages.slice(start, end));

describe('a round', () => {
  it.each([
    ['U1 A1 A1 A1', '[U1] [A1 A1 A1]'],
    ['U1 A1(a) T(a) A1(b) T(b) A1 A2', '[U1] [A1(a) T(a) A1(b) T(b) A1] [A2]'],
  ])('records of one response stay together: "%s" is %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
  });

  it.each(['U1', 'A1 U1', 'U1 A1 U2', 'U1 A1(a) T(a) U2 U3', 'U1 A1(a)'])(
    'the last round of "%s" reaches to the end',
    (words) => {
      const messages = recordsOfWords(words);

      expect(groupRounds(messages).at(-1)?.end).toBe(messages.length);
    },
  );

  it.each([
    ['A1', '[A1]'],
    ['A1 U1', '[A1 U1]'],
    ['A1(a) T(a) A2', '[A1(a) T(a)] [A2]'],
  ])('a list that begins with an answer has no empty round in front: "%s" is %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
    expect(groupRounds(recordsOfWords(words))[0]).toMatchObject({ index: 0, kind: 'response', start: 0 });
  });

  it.each([
    ['U1 A1(a) U2 A2', '[U1] [A1(a) U2] [A2]'],
    ['U1 A1(a,b) T(a) A2', '[U1] [A1(a,b) T(a)] [A2]'],
    ['U1 A1(a)', '[U1] [A1(a)]'],
  ])('a call that nobody answers stays where it is and opens nothing: "%s" is %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
  });
});

describe('rounds of whole conversations', () => {
  it('every round has a name with its index, response, messages and size, and reports use it', () => {
    const words = 'U1 A7(a) T(a) A8';
    const conversation = anthropic(rawsOf({ messages: recordsOfWords(words) }));
    const described = describeRounds(conversation.messages, estimator);

    expect(described.map(({ name }) => name)).toEqual([
      'round 0 (preamble, message 0, 5 tokens)',
      'round 1 (msg_7, messages 1–2, 26 tokens)',
      'round 2 (msg_8, message 3, 5 tokens)',
    ]);
    expect(inspectConversation(conversation, { estimator, top: 1 }).largestRounds).toMatchObject([
      { name: nameRound(described[1]!.round), tokens: 26 },
    ]);
  });

  it('one question with thirty tool rounds has thirty-one rounds, whatever the clock said', () => {
    const conversation = toolSession(30);
    const stamped = rawsOf(conversation).map((raw, index) => ({
      ...(raw as object),
      timestamp: new Date(index * 86_400_000).toISOString(),
    }));

    expect(groupRounds(conversation.messages).length).toBe(31);
    expect(groupRounds(anthropic(stamped).messages)).toEqual(groupRounds(conversation.messages));
  });

  const samples = ['uacr', 'ucr', 'rau'].map((shape) => rawsOf({ messages: messagesOfShape(shape) }));

  test.prop([fc.array(oddLike(samples.flat()), { maxLength: 12 })])(
    'the rounds of anything, in order, are the list itself',
    (raws) => {
      const { format } = anthropic([]);
      const messages = raws.map((raw) => format.readMessage(raw));

      expect(isWhole(messages)).toEqual(messages);
      expect(groupRounds(messages).every(({ start, end }) => end > start)).toBe(true);
    },
  );

  it.each([
    ['uuu', '[uuu]'],
    ['ucrcra', '[u] [cr] [cr] [a]'],
    ['uauau', '[u] [au] [au]'],
    ['uaau', '[u] [aau]'],
    ['ucuar', '[u] [cuar]'],
    ['ucua', '[u] [cu] [a]'],
  ])('without ids %s has the rounds %s', (shape, rounds) => {
    expect(inLetters(shape)).toBe(rounds);
  });

  test.prop([steps])('a conversation has the same number of rounds in every wire format', (list) => {
    const numbers = Object.entries(writers).map(
      ([name, write]) => groupRounds(readConversation(write(list), name).messages).length,
    );

    expect(new Set(numbers).size).toBe(1);
  });

  it('the round that is too large is named', () => {
    const { messages } = anthropic([
      ...rawsOf(toolSession(3)),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'big', name: 'cat', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'big', content: 'x'.repeat(9000) }],
      },
      { role: 'assistant', content: 'done' },
    ]);
    const described = describeRounds(messages, estimator);
    const largest = largestRound(groupRounds(messages), ({ index }) => described[index]?.tokens ?? 0);

    expect(described[largest?.index ?? -1]).toMatchObject({
      hint: 'cat',
      name: 'round 4 (messages 7–8, 9,011 tokens)',
    });
  });
});
