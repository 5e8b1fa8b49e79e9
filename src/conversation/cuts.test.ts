import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { chat, chatShape } from '../../test/support/chat-shapes.ts';
import { messagesOfShape, recordsOfWords } from '../../test/support/shapes.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { openaiResponses } from '../formats/openai-responses/format.ts';
import {
  alignToGroup,
  atomicGroups,
  currentTurnStart,
  lastingCuts,
  legalCuts,
  legalityProperties,
  protectedHeadEnd,
  safeSplitPoint,
  whyNotCut,
} from './cuts.ts';

/** The cuts that one property alone allows. */
function cutsOf(name: string, messages: Parameters<typeof legalCuts>[0]): readonly number[] {
  return legalCuts(
    messages,
    legalityProperties.filter((property) => property.name === name),
  );
}

describe('each property alone', () => {
  it.each([
    {
      property: 'pairing',
      words: 'U1 A1(a) U2 T(a) A2',
      cuts: [0, 1, 4, 5],
      why: 'call and result stay together',
    },
    {
      property: 'results-follow',
      words: 'U1 T(gone) A1',
      cuts: [0, 2, 3],
      why: 'an orphan result never comes first',
    },
    {
      property: 'same-response',
      words: 'U1 A1 T(x) A1 A2',
      cuts: [0, 1, 4, 5],
      why: 'records of response 1 stay together',
    },
    {
      property: 'same-response',
      words: 'A1 A2 A1',
      cuts: [0, 1, 2, 3],
      why: 'an id that comes back opens a new round',
    },
  ])('$property allows $cuts in "$words": $why', ({ property, words, cuts }) => {
    expect(cutsOf(property, recordsOfWords(words))).toEqual(cuts);
  });

  const items = [
    { role: 'user', content: 'go' },
    { type: 'reasoning', summary: [] },
    { type: 'message', role: 'assistant', content: 'looking' },
    { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: '' },
    { type: 'message', role: 'assistant', content: 'one' },
    { type: 'message', role: 'assistant', content: 'two' },
  ].map(openaiResponses.readMessage);

  it('batch keeps reasoning and calls with their neighbours, and plain answers apart', () => {
    expect(cutsOf('batch', items)).toEqual([0, 1, 4, 5, 6, 7]);
  });

  it('batch keeps a thought with all that it led to, up to what the client says', () => {
    const [question, thought, answer] = items;
    const search = openaiResponses.readMessage({ type: 'web_search_call', id: 'ws_1', status: 'completed' });
    const list = [question!, thought!, search, answer!, answer!, question!, answer!, search];

    expect(cutsOf('batch', list)).toEqual([0, 1, 5, 6, 7, 8]);
  });

  it('opaque-border forbids every cut up to a compaction item', () => {
    const border = openaiResponses.readMessage({ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' });

    expect(cutsOf('opaque-border', [...items.slice(0, 1), border, ...items.slice(5)])).toEqual([0, 2, 3, 4]);
  });
});

describe('legalCuts', () => {
  it.each([
    { shape: '', cuts: [0] },
    { shape: 'u', cuts: [0, 1] },
    { shape: 'ucrcrcr', cuts: [0, 1, 3, 5, 7] },
    { shape: 'uaucra', cuts: [0, 1, 2, 3, 5, 6] },
    // A call without a result stays where it stood.
    { shape: 'ucua', cuts: [0, 1, 3, 4] },
  ])('finds $cuts in $shape', ({ shape, cuts }) => {
    expect(legalCuts(messagesOfShape(shape))).toEqual(cuts);
  });

  it('is the intersection of its properties', () => {
    const messages = recordsOfWords('U1 A1(a) T(a) A1(b) U2 T(b) A2 T(zz) A3');
    const alone = legalityProperties.map((property) => new Set(legalCuts(messages, [property])));

    expect(legalCuts(messages)).toEqual(
      [...messages.keys(), messages.length].filter((cut) => alone.every((cuts) => cuts.has(cut))),
    );
  });

  it('can say why a cut is not legal', () => {
    const messages = recordsOfWords('U1 A1(a) T(a) A2');

    expect(whyNotCut(messages, 2).map(({ name }) => name)).toEqual(['pairing', 'results-follow']);
    expect(whyNotCut(messages, 3)).toEqual([]);
  });
});

describe('lastingCuts', () => {
  it('count from behind the messages in front', () => {
    const messages = recordsOfWords('U1 U2 U3 A1(a) T(a) U4');
    expect(lastingCuts(messages, 0)).toEqual([1, 2, 3, 5, 6]);
    expect(lastingCuts(messages, 2)).toEqual([1, 3, 4]);
  });

  it('are not behind a call whose result may still come', () => {
    expect(legalCuts(recordsOfWords('U1 A1(a)'))).toContain(2);
    expect(lastingCuts(recordsOfWords('U1 A1(a)'), 0)).toEqual([1]);
  });

  it('do not part a call from an earlier one with its id', () => {
    const messages = recordsOfWords('U1 A1(a) T(a) U2 A2(a)');
    expect(lastingCuts(messages, 0)).not.toContain(4);
    expect(lastingCuts(messages.slice(0, 4), 0)).toContain(4);
  });

  it('know that a call in a system message in front binds what has its id', () => {
    const use = { type: 'tool_use', id: 'a', name: 'read', input: {} };
    const messages = [
      { role: 'system', content: [use] },
      { role: 'user', content: 'a question' },
      { role: 'assistant', content: [use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'text' }] },
    ].map(anthropicMessages.readMessage);
    expect(lastingCuts(messages, 1)).not.toContain(1);
  });

  it('know the border that a summary of the provider is', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'compaction', content: 'b' }] },
      { role: 'user', content: 'c' },
    ].map(anthropicMessages.readMessage);
    expect(lastingCuts(messages, 0)).toEqual([2, 3]);
  });
});

describe('safeSplitPoint', () => {
  it.each([
    { shape: 'uau', points: [0, 0, 2, 3, 3] },
    { shape: 'uaucra', points: [0, 0, 2, 2, 2, 2, 6, 6] },
    { shape: 'ra', points: [0, 0, 2, 2] },
    { shape: 'u', points: [0, 1, 1] },
    { shape: 'ucrau', points: [0, 0, 0, 0, 4, 5, 5] },
    { shape: 'uuuu', points: [0, 1, 2, 3, 4, 4] },
    { shape: 'ucrcrcrcrcr', points: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 11] },
  ])('gives $points for $shape and every wanted index up to one past the end', ({ shape, points }) => {
    const messages = messagesOfShape(shape);

    expect(points.map((_, desired) => safeSplitPoint(messages, desired))).toEqual(points);
    expect(safeSplitPoint(messages, -3)).toBe(0);
  });
});

describe('the current turn', () => {
  it.each([
    { shape: '', start: 0 },
    { shape: 'u', start: 0 },
    { shape: 'uuu', start: 0 },
    { shape: 'uau', start: 2 },
    { shape: 'uauu', start: 2 },
    { shape: 'uaucr', start: 3 },
    { shape: 'uaucrcr', start: 5 },
    { shape: 'uaucru', start: 3 },
    { shape: 'uaua', start: 3 },
    { shape: 'uauc', start: 3 },
  ])('of $shape begins at $start', ({ shape, start }) => {
    expect(currentTurnStart(messagesOfShape(shape))).toBe(start);
  });

  it('holds every record of the response whose results wait', () => {
    expect(currentTurnStart(recordsOfWords('U1 A1 U2 A2 A2(a) A2(b) T(a) T(b)'))).toBe(3);
  });

  test.prop([fc.stringMatching(/^u(a|cr|u){0,12}$/)])(
    'begins where the list may be cut, and holds the newest message',
    (shape) => {
      const messages = messagesOfShape(shape);
      const start = currentTurnStart(messages);

      expect(legalCuts(messages)).toContain(start);
      expect(start).toBeLessThan(messages.length);
    },
  );
});

const shapes = fc.string({ unit: fc.constantFrom('s', 'u', 'a', 'C', 't'), maxLength: 24 });
const messagesOf = (shape: string) => chat(chatShape(shape)).messages;

describe('atomicGroups', () => {
  it('takes a result that stands in a user message for a result', () => {
    expect(atomicGroups(messagesOfShape('ucrau')).map(({ start }) => start)).toEqual([0, 1, 4]);
  });

  it('is empty for an empty list', () => {
    expect(atomicGroups([])).toEqual([]);
  });

  test.prop([shapes])('leaves nothing out, and every border is a legal cut', (shape) => {
    const messages = messagesOf(shape);
    const groups = atomicGroups(messages);
    const cuts = legalCuts(messages);

    expect(groups.flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
    for (const { start } of groups) expect(cuts).toContain(start);
  });
});

describe('alignToGroup', () => {
  test.prop([shapes, fc.nat(30)])('never moves forward, except to the protected head', (shape, index) => {
    const messages = messagesOf(shape);
    const aligned = alignToGroup(messages, index);

    expect(aligned).toBeLessThanOrEqual(Math.min(index, messages.length));
    expect(alignToGroup(messages, aligned)).toBe(aligned);
    expect(legalCuts(messages)).toContain(aligned);
  });
});

describe('protectedHeadEnd', () => {
  it.each([
    { shape: '', keepFirst: 3, end: 0 },
    { shape: 'ss', keepFirst: 0, end: 2 },
    { shape: 'ua', keepFirst: -1, end: 0 },
    { shape: 'ua', keepFirst: 9, end: 2 },
    { shape: 'uCtau', keepFirst: 2, end: 4 },
    { shape: 'uCtau', keepFirst: 1, end: 1 },
  ])('protects $end of $shape with $keepFirst', ({ shape, keepFirst, end }) => {
    expect(protectedHeadEnd(messagesOf(shape), keepFirst)).toBe(end);
  });

  test.prop([shapes, fc.nat(10)])('is a legal cut', (shape, keepFirst) => {
    const messages = messagesOf(shape);
    const head = protectedHeadEnd(messages, keepFirst);

    expect(atomicGroups(messages).some(({ start, end }) => start < head && head < end)).toBe(false);
  });
});
