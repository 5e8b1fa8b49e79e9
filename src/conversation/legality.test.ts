import { describe, expect, it } from 'vitest';
import { messagesOfShape, recordsOfWords } from '../../test/support/shapes.ts';
import { openaiResponses } from '../formats/openai-responses/format.ts';
import {
  batch,
  legalCuts,
  legalityProperties,
  opaqueBorder,
  pairing,
  resultsFollow,
  sameResponse,
  whyNotCut,
} from './legality.ts';

describe('each property alone', () => {
  it.each([
    {
      property: pairing,
      words: 'U1 A1(a) U2 T(a) A2',
      cuts: [0, 1, 4, 5],
      why: 'call and result stay together',
    },
    {
      property: resultsFollow,
      words: 'U1 T(gone) A1',
      cuts: [0, 2, 3],
      why: 'an orphan result never comes first',
    },
    {
      property: sameResponse,
      words: 'U1 A1 T(x) A1 A2',
      cuts: [0, 1, 4, 5],
      why: 'records of response 1 stay together',
    },
    {
      property: sameResponse,
      words: 'A1 A2 A1',
      cuts: [0, 1, 2, 3],
      why: 'an id that comes back opens a new round',
    },
  ])('$property.name allows $cuts in "$words": $why', ({ property, words, cuts }) => {
    expect(legalCuts(recordsOfWords(words), [property])).toEqual(cuts);
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
    expect(legalCuts(items, [batch])).toEqual([0, 1, 4, 5, 6, 7]);
  });

  it('batch keeps a thought with all that it led to, up to what the client says', () => {
    const [question, thought, answer] = items;
    const search = openaiResponses.readMessage({ type: 'web_search_call', id: 'ws_1', status: 'completed' });
    const list = [question!, thought!, search, answer!, answer!, question!, answer!, search];

    expect(legalCuts(list, [batch])).toEqual([0, 1, 5, 6, 7, 8]);
  });

  it('opaque-border forbids every cut up to a compaction item', () => {
    const border = openaiResponses.readMessage({ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' });

    expect(legalCuts([...items.slice(0, 1), border, ...items.slice(5)], [opaqueBorder])).toEqual([
      0, 2, 3, 4,
    ]);
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
