import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { messagesOfShape, recordsOfWords, wordOf } from '../../test/support/shapes.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { openaiResponses } from '../formats/openai-responses/format.ts';
import type { Message } from './message.ts';
import { groupRounds, largestRound, nameRound, newestRoundsStart } from './rounds.ts';

function inWords(messages: readonly Message[], userTextJoins: 'previous' | 'next' = 'previous'): string {
  const rounds = groupRounds(messages, { userTextJoins });
  return rounds.map(({ start, end }) => `[${messages.slice(start, end).map(wordOf).join(' ')}]`).join(' ');
}

describe('groupRounds', () => {
  it.each([
    { input: '', groups: '' },
    { input: 'U1 U2', groups: '[U1 U2]' },
    { input: 'A1', groups: '[A1]' },
    { input: 'U1 A1 T1 A2 T2 A3 T3 A4', groups: '[U1] [A1 T1] [A2 T2] [A3 T3] [A4]' },
    { input: 'U1 A1 U2 A2 U3', groups: '[U1] [A1 U2] [A2 U3]' },
    { input: 'A1 A1 T1 A2', groups: '[A1 A1 T1] [A2]' },
    { input: 'U1 A1(a) T(a) A1(b) T(b) A2', groups: '[U1] [A1(a) T(a) A1(b) T(b)] [A2]' },
    { input: 'T(orphan) A1', groups: '[T(orphan)] [A1]' },
  ])('groups "$input" as $groups', ({ input, groups }) => {
    expect(inWords(recordsOfWords(input))).toBe(groups);
  });

  it.each([
    { input: 'U1 A1 U2 A2 U3', groups: '[U1] [A1] [U2 A2 U3]', why: 'a question stands before its answer' },
    {
      input: 'U1 A1(a) T(a) U2 A2',
      groups: '[U1] [A1(a) T(a)] [U2 A2]',
      why: 'a result stays with its call',
    },
    { input: 'U1 U2 A1 A2', groups: '[U1 U2] [A1] [A2]', why: 'the preamble stays by itself' },
    { input: 'A1 U1 U2 A2', groups: '[A1] [U1 U2 A2]', why: 'all user text moves' },
  ])('groups "$input" as $groups for a tail: $why', ({ input, groups }) => {
    expect(inWords(recordsOfWords(input), 'next')).toBe(groups);
  });
});

describe('groupRounds without response ids', () => {
  const bounds = (messages: readonly Message[]) =>
    groupRounds(messages).map(({ start, end }) => [start, end]);

  it.each([
    {
      shape: 'ucrcrcra',
      rounds: [
        [0, 1],
        [1, 3],
        [3, 5],
        [5, 7],
        [7, 8],
      ],
      why: 'every answer opens a round',
    },
    {
      shape: 'uaau',
      rounds: [
        [0, 1],
        [1, 4],
      ],
      why: 'neighbouring answers are one response',
    },
    {
      shape: 'ucur',
      rounds: [
        [0, 1],
        [1, 4],
      ],
      why: 'a call keeps what stands before its result',
    },
    {
      shape: 'ucuar',
      rounds: [
        [0, 1],
        [1, 5],
      ],
      why: 'an answer before an open result opens nothing',
    },
    {
      shape: 'ucua',
      rounds: [
        [0, 1],
        [1, 3],
        [3, 4],
      ],
      why: 'a call that nobody answers holds nothing',
    },
  ])('groups $shape where $why', ({ shape, rounds }) => {
    expect(bounds(messagesOfShape(shape))).toEqual(rounds);
  });

  it('puts parallel chat calls and all their tool messages into one round', () => {
    const messages = [
      { role: 'user', content: 'look at both' },
      { role: 'assistant', content: null, tool_calls: [chatCall('a'), chatCall('b')] },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'assistant', content: 'done' },
    ].map(openaiChat.readMessage);

    expect(bounds(messages)).toEqual([
      [0, 1],
      [1, 4],
      [4, 5],
    ]);
  });

  it('binds reasoning items forward and keeps calls with their outputs', () => {
    const messages = [
      { role: 'user', content: 'go' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'ls', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '' },
      { type: 'function_call_output', call_id: 'b', output: '' },
      { type: 'reasoning', id: 'rs_2', summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
    ].map(openaiResponses.readMessage);

    expect(bounds(messages)).toEqual([
      [0, 1],
      [1, 6],
      [6, 8],
    ]);
  });
});

describe('any list', () => {
  const words = fc.array(
    fc.constantFrom('U1', 'A1', 'A2', 'A1(a)', 'A2(b,c)', 'T(a)', 'T(b)', 'T(c)', 'T(zz)'),
  );

  test.prop([words, fc.constantFrom('previous', 'next')])(
    'is grouped without loss, in order, whatever stands in it',
    (list, userTextJoins) => {
      const messages = Object.freeze(recordsOfWords(list.join(' ')));
      const rounds = groupRounds(messages, { userTextJoins: userTextJoins as 'previous' | 'next' });

      expect(rounds.flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
      expect(rounds.every(({ start, end }) => end > start)).toBe(true);
      expect(rounds.map(({ index }) => index)).toEqual(rounds.keys().toArray());
    },
  );

  test.prop([words])('has as many rounds in both views', (list) => {
    const messages = recordsOfWords(list.join(' '));

    expect(groupRounds(messages, { userTextJoins: 'next' })).toHaveLength(groupRounds(messages).length);
  });
});

describe('names', () => {
  const messages = recordsOfWords('U1 A7 T1 A8');
  const rounds = groupRounds(messages);

  it('name every round by index, response, messages and size', () => {
    expect(rounds.map((round) => nameRound(round))).toEqual([
      'round 0 (preamble, message 0)',
      'round 1 (msg_7, messages 1–2)',
      'round 2 (msg_8, message 3)',
    ]);
    expect(nameRound(rounds[1]!, 1203.6)).toBe('round 1 (msg_7, messages 1–2, 1,204 tokens)');
  });

  it('point out the largest round, the earliest of equals', () => {
    const sizes = [5, 9, 9];

    expect(largestRound(rounds, ({ index }) => sizes[index] ?? 0)?.index).toBe(1);
    expect(largestRound([], () => 1)).toBeUndefined();
  });
});

function chatCall(id: string): unknown {
  return { id, type: 'function', function: { name: 'read', arguments: '{}' } };
}

describe('newestRoundsStart', () => {
  it.each(['', 'U1', 'U1 A1 T1 A2 T2 A3', 'U1 A1(a) T(a) A1(b) T(b) A2', 'A1 A1 T1 A2 U2'])(
    'is where the grouped rounds of "%s" begin, counted from the end',
    (input) => {
      const messages = recordsOfWords(input);
      const starts = groupRounds(messages).map(({ start }) => start);

      for (let count = 0; count <= starts.length + 1; count++) {
        const expected = count === 0 ? messages.length : (starts.at(-count) ?? 0);
        expect(newestRoundsStart(messages, count)).toBe(expected);
      }
    },
  );
});
