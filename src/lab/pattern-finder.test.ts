import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWordBorder } from '../memory/facts/entities.ts';
import { createPatternFinder } from './pattern-finder.ts';

function find(patterns: readonly string[], text: string, wholeWords: boolean): readonly string[] {
  const found = new Set<string>();
  createPatternFinder(patterns, { wholeWords }).find(text, (pattern, start) => {
    found.add(`${patterns[pattern]}@${start}`);
  });
  return [...found].toSorted();
}

describe('finding many texts in one pass', () => {
  test('whole words only, where asked for', () => {
    expect(find(['b/c.ts'], 'a/b/c.ts b/c.tsx xb/c.ts', true)).toEqual(['b/c.ts@2']);
  });

  test('also inside of words, where not', () => {
    expect(find(['lo wor'], 'hello world', false)).toEqual(['lo wor@3']);
  });

  test('finds what a plain search finds', () => {
    const piece = fc.string({ unit: fc.constantFrom(...'ab_ ./é→'), minLength: 1, maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom(...'ab_ ./é→'), maxLength: 60 });
    fc.assert(
      fc.property(
        fc.uniqueArray(piece, { maxLength: 6 }),
        text,
        fc.boolean(),
        (patterns, haystack, wholeWords) => {
          const isFound = new Set<number>();
          createPatternFinder(patterns, { wholeWords }).find(haystack, (pattern) => isFound.add(pattern));
          for (const [index, pattern] of patterns.entries()) {
            expect(isFound.has(index)).toBe(occurs(haystack, pattern, wholeWords));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

function occurs(text: string, pattern: string, wholeWords: boolean): boolean {
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) {
    if (!wholeWords || (isWordBorder(text, at) && isWordBorder(text, at + pattern.length))) return true;
  }
  return false;
}
