import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EntityKind, entitiesIn, kindOfIdentifier, scanText } from './entities.ts';

describe('names in a text', () => {
  test.each<[string, readonly string[]]>([
    ['see https://example.org/a/b?c=d.', ['https://example.org/a/b?c=d']],
    ['open src/core/tokens.ts:12 now', ['core/tokens.ts']],
    ['open /home/me/src/core/tokens.ts', ['core/tokens.ts']],
    ['run ./cmd/server and ../lib/store/', ['cmd/server', 'lib/store']],
    ['half is 1/2', []],
    ['edit tokens.ts and README.md', ['tokens.ts', 'README.md']],
    ['context.Background() of pkg.NewStore', ['NewStore']],
    [
      'snake_case, camelCase, PascalCase, HTTPServer, MAX_SIZE, TODO',
      ['snake_case', 'camelCase', 'PascalCase', 'HTTPServer', 'MAX_SIZE', 'TODO'],
    ],
    ['commit 3f836a1 of job 019d7e48-ba4b', ['3f836a1', '019d7e48-ba4b']],
    ['booking EHGLP3 costs 1250 in 2026, not 12', ['EHGLP3', '1250', '2026']],
    ['plain words, an id, a v2 and U.S.', []],
    ['non-trivial well-known words', []],
    ['twice twiceNamed twiceNamed', ['twiceNamed']],
    ['имяФайла и слово', ['имяФайла']],
  ])('%s', (text, names) => {
    expect(entitiesIn(text)).toEqual(names);
  });

  test.each<[string, EntityKind | 'word' | undefined]>([
    ['word', 'word'],
    ['Word', 'word'],
    ['of', undefined],
    ['漢字', 'word'],
    ['__init__', 'word'],
    ['a_b', 'snake'],
    ['A_B', 'caps'],
    ['aB', 'camel'],
    ['AbCd', 'pascal'],
    ['utf8', 'code'],
    ['v2', undefined],
    ['URL', undefined],
    ['1234', 'number'],
    ['123', undefined],
    ['', undefined],
  ])('%s is a %s', (text, kind) => {
    expect(kindOfIdentifier(text)).toBe(kind);
  });

  test('words inside of paths, files and names are no plain words', () => {
    const words: string[] = [];
    scanText('the path src/core/words.ts has some_name and other things', {
      word: (word) => words.push(word),
    });
    expect(words).toEqual(['the', 'path', 'has', 'and', 'other', 'things']);
  });

  test('every name and word stands where it is said to', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aB9_./-:~@+ \n"é漢→'), maxLength: 60 }), (text) => {
        const check = (name: string, start: number) => expect(text.startsWith(name, start)).toBe(true);
        scanText(text, { entity: (name, _, start) => check(name, start), word: check });
      }),
    );
  });

  test('a run of data is no name', () => {
    expect(entitiesIn(`${'Ab9/'.repeat(200)} ok_name`)).toEqual(['ok_name']);
  });
});
