import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  describeRounds,
  ensureToolResultPairing,
  groupRounds,
  largestRound,
  type Message,
  MISSING_RESULT_TEXT,
  nameRound,
  PLACEHOLDER_TEXT,
  readConversation,
  writeConversation,
} from '../../src/index.ts';
import { inspectConversation } from '../../src/report/inspection.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { messagesOfShape, recordsOfWords, wordOf } from '../../src/testing/shapes.ts';
import { anthropic, errorsOf, estimator, rawsOf, toolSession } from '../support/checklist.ts';
import { applyDamages, damages, steps, writers } from '../support/conversations.ts';
import { oddLike } from '../support/odd-values.ts';

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

describe('rounds (rows 1 to 5)', () => {
  it.each([
    ['', ''],
    ['U1 U2', '[U1 U2]'],
    ['A1', '[A1]'],
    ['U1 A1 T1 A2 T2 A3 T3 A4', '[U1] [A1 T1] [A2 T2] [A3 T3] [A4]'],
    ['U1 A1 U2 A2 U3', '[U1] [A1 U2] [A2 U3]'],
    ['A1 A1 T1 A2', '[A1 A1 T1] [A2]'],
    ['U1 A1(a) T(a) A1(b) T(b) A2', '[U1] [A1(a) T(a) A1(b) T(b)] [A2]'],
    ['T(orphan) A1', '[T(orphan)] [A1]'],
  ])('row 1: "%s" has the rounds %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
  });

  it.each([
    ['A1 A1 T1 A2', '[A1 A1 T1] [A2]'],
    ['U1 A1 A1 A1', '[U1] [A1 A1 A1]'],
    ['U1 A1(a) T(a) A1(b) T(b) A1 A2', '[U1] [A1(a) T(a) A1(b) T(b) A1] [A2]'],
  ])('row 2: records of one response stay together: "%s" is %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
  });

  it.each(['U1', 'A1 U1', 'U1 A1 U2', 'U1 A1(a) T(a) U2 U3', 'U1 A1(a)'])(
    'row 3: the last round of "%s" reaches to the end',
    (words) => {
      const messages = recordsOfWords(words);

      expect(groupRounds(messages).at(-1)?.end).toBe(messages.length);
    },
  );

  it.each([
    ['A1', '[A1]'],
    ['A1 U1', '[A1 U1]'],
    ['A1(a) T(a) A2', '[A1(a) T(a)] [A2]'],
  ])('row 4: a list that begins with an answer has no empty round in front: "%s" is %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
    expect(groupRounds(recordsOfWords(words))[0]).toMatchObject({ index: 0, kind: 'response', start: 0 });
  });

  it.each([
    ['U1 A1(a) U2 A2', '[U1] [A1(a) U2] [A2]'],
    ['U1 A1(a,b) T(a) A2', '[U1] [A1(a,b) T(a)] [A2]'],
    ['U1 A1(a)', '[U1] [A1(a)]'],
  ])('row 5: a call that nobody answers stays where it is and opens nothing: "%s" is %s', (words, rounds) => {
    expect(inWords(words)).toBe(rounds);
  });
});

describe('repair (row 6)', () => {
  const call = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: {} });
  const result = (id: string, content = 'text') => ({ type: 'tool_result', tool_use_id: id, content });
  const missing = (id: string) => ({ ...result(id, MISSING_RESULT_TEXT), is_error: true });
  const text = (value: string) => ({ type: 'text', text: value });
  const user = (...content: unknown[]) => ({ role: 'user', content });
  const says = (...content: unknown[]) => ({ role: 'assistant', content });
  const [asks, answers] = [user(text('why?')), says(text('because'))];
  const stand = user(text(PLACEHOLDER_TEXT));
  const repair = (value: unknown) => writeConversation(ensureToolResultPairing(anthropic(value)));

  it.each([
    {
      fault: 'a call without a result',
      list: [asks, says(call('a'))],
      mended: [asks, says(call('a')), user(missing('a'))],
    },
    {
      fault: 'some of several calls unanswered',
      list: [asks, says(call('a'), call('b')), user(result('b'))],
      mended: [asks, says(call('a'), call('b')), user(result('b'), missing('a'))],
    },
    {
      fault: 'a result without a call',
      list: [asks, says(call('a')), user(result('a'), result('z'))],
      mended: [asks, says(call('a')), user(result('a'))],
    },
    {
      fault: 'an id twice in one message',
      list: [asks, says(call('a'), call('a')), user(result('a'))],
      mended: [asks, says(call('a')), user(result('a'))],
    },
    {
      fault: 'an id used again later',
      list: [
        asks,
        says(call('a')),
        user(result('a')),
        says(text('again'), call('a')),
        user(result('a'), text('so')),
      ],
      mended: [asks, says(call('a')), user(result('a')), says(text('again')), user(text('so'))],
    },
    {
      fault: 'two results for one call',
      list: [asks, says(call('a')), user(result('a', '1'), result('a', '2'))],
      mended: [asks, says(call('a')), user(result('a', '1'))],
    },
    {
      fault: 'an orphan as the first message',
      list: [user(result('z')), answers, asks],
      mended: [stand, answers, asks],
    },
    {
      fault: 'a message emptied between two answers',
      list: [asks, answers, user(result('z')), answers],
      mended: [asks, answers, stand, answers],
    },
    {
      fault: 'an orphan behind an answer of text',
      list: [asks, answers, user(result('z'), text('and?'))],
      mended: [asks, answers, user(text('and?'))],
    },
    {
      fault: 'user messages in a row',
      list: [asks, user(text('tell me')), answers],
      mended: [user(text('why?'), text('tell me')), answers],
    },
    {
      fault: 'messages without content',
      list: [asks, says(), { role: 'user', content: '' }, answers],
      mended: [asks, answers],
    },
  ])('row 6: $fault is mended, and once is enough', ({ list, mended }) => {
    expect(repair(list)).toEqual(mended);
    expect(repair(mended)).toBe(mended);
  });

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    test.prop([steps], { numRuns: 50 })('row 6: what is fine comes back as the very same value', (list) => {
      const body = deepFreeze(write(list));

      expect(writeConversation(ensureToolResultPairing(readConversation(body, name)))).toBe(body);
    });

    test.prop([steps, damages], { numRuns: 50 })('row 6: what is broken comes back legal', (list, broken) => {
      const body = deepFreeze(applyDamages(write(list), broken));
      fc.pre(body.length > 0);
      const repaired = ensureToolResultPairing(readConversation(body, name));

      expect(errorsOf(repaired, writeConversation(repaired))).toBe(0);
    });
  });
});

describe('names, borders and ids (rows 7 to 11)', () => {
  it('row 7: every round has a name with its index, response, messages and size, and reports use it', () => {
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

  it('row 8: one question with thirty tool rounds has thirty-one rounds, whatever the clock said', () => {
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
    'row 9: the rounds of anything, in order, are the list itself',
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
  ])('row 10: without ids %s has the rounds %s', (shape, rounds) => {
    expect(inLetters(shape)).toBe(rounds);
  });

  test.prop([steps])('row 10: a conversation has the same number of rounds in every wire format', (list) => {
    const numbers = Object.entries(writers).map(
      ([name, write]) => groupRounds(readConversation(write(list), name).messages).length,
    );

    expect(new Set(numbers).size).toBe(1);
  });

  it('row 11: the round that is too large is named', () => {
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
