import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { isWordBorder } from './entities.ts';
import { createTextFinder } from './find-texts.ts';

describe('createTextFinder', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 60 });

  test.prop([fc.array(letters, { maxLength: 12 }), letters])(
    'finds what includes finds, at its first place',
    (wanted, text) => {
      const expected = new Map(
        [...new Set(wanted)]
          .filter((each) => each !== '' && text.includes(each))
          .map((each) => [each, text.indexOf(each)]),
      );

      expect(new Map(createTextFinder(wanted).search(text))).toEqual(expected);
    },
  );

  it('looks for each text until it is found', () => {
    const finder = createTextFinder(['ab', 'first', 'second']);

    expect([...finder.search('the first text').keys()]).toEqual(['first']);
    expect([...finder.search('ab first second').keys()]).toEqual(['ab', 'second']);
    expect([...finder.search('ab first second').keys()]).toEqual([]);
  });

  it('goes on where a place does not count', () => {
    const isWord = (text: string, start: number, end: number) =>
      isWordBorder(text, start) && isWordBorder(text, end);

    expect(createTextFinder(['1234'], isWord).search('91234 12345 1234')).toEqual(new Map([['1234', 12]]));
    expect(createTextFinder(['ab'], isWord).search('abc ab')).toEqual(new Map([['ab', 4]]));
  });

  it('gives up on what is made to be slow, and calls nothing found that is not there', () => {
    const wanted = Array.from({ length: 500 }, (_, index) => `${'a'.repeat(index + 10)}b`);
    const found = createTextFinder(wanted).search('a'.repeat(300_000));

    expect(found.size).toBe(0);
  });
});
