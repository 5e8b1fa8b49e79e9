import { describe, expect, it } from 'vitest';
import { recordsOfWords } from '../../test/support/shapes.ts';
import { gemini } from '../formats/gemini/format.ts';
import { linkTools } from './tool-links.ts';

const at = ({ message, block }: { message: number; block: number }) => `${message}.${block}`;

function summary(words: string) {
  const links = linkTools(recordsOfWords(words));
  return {
    pairs: links.pairs.map(({ call, result }) => `${at(call)}-${at(result)}`),
    unanswered: links.unanswered.map(at),
    orphans: links.orphans.map(at),
  };
}

describe('linkTools', () => {
  it.each([
    {
      words: 'A1(a,b) T(b) T(a)',
      pairs: ['0.2-1.0', '0.1-2.0'],
      unanswered: [],
      orphans: [],
      why: 'ids decide',
    },
    {
      words: 'A1(a) A2(b) T(b)',
      pairs: ['1.1-2.0'],
      unanswered: ['0.1'],
      orphans: [],
      why: 'one call is open',
    },
    {
      words: 'T(a) A1(a)',
      pairs: [],
      unanswered: ['1.1'],
      orphans: ['0.0'],
      why: 'a result before its call is none',
    },
    {
      words: 'A1(a) T(a) T(a)',
      pairs: ['0.1-1.0'],
      unanswered: [],
      orphans: ['2.0'],
      why: 'one result per call',
    },
    {
      words: 'A1(a) T(a) A2(a) T(a)',
      pairs: ['0.1-1.0', '2.1-3.0'],
      unanswered: [],
      orphans: [],
      why: 'an id used again pairs again',
    },
    {
      words: 'A1(a) A2(a) T(a)',
      pairs: ['1.1-2.0'],
      unanswered: ['0.1'],
      orphans: [],
      why: 'the newest open call wins',
    },
  ])('links "$words": $why', ({ words, pairs, unanswered, orphans }) => {
    expect(summary(words)).toEqual({ pairs, unanswered, orphans });
  });

  it('pairs calls without ids by name and order, even when the responses have ids', () => {
    const messages = [
      { role: 'model', parts: ['ls', 'cat', 'ls'].map((name) => ({ functionCall: { name, args: {} } })) },
      {
        role: 'user',
        parts: ['ls', 'ls', 'cat'].map((name, index) => ({
          functionResponse: { id: `x${index}`, name, response: {} },
        })),
      },
    ].map(gemini.readMessage);

    const links = linkTools(messages);

    expect(links.pairs.map(({ call, result }) => `${at(call)}-${at(result)}`)).toEqual([
      '0.0-1.0',
      '0.2-1.1',
      '0.1-1.2',
    ]);
    expect(links.unanswered).toEqual([]);
  });
});
