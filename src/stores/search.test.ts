import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { excerptOf, hasWords, searchWords } from './search.ts';

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(' ', '\n', '"', "'", '_', '-', 'é', 'e\u0301', 'İ', 'ß', '漢', 'ﷺ', '\ud800', '𒀀'),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 300,
});

describe('searchWords', () => {
  it.each([
    ['src/core/plan.ts:12', ['src', 'core', 'plan', 'ts', '12']],
    ['snake_case camelCase', ['snake', 'case', 'camelcase']],
    ['ÄRGER Ärger', ['ärger']],
    ['検索する now', ['検', '索', 'す', 'る', 'now']],
    ['"a" AND b*', ['a', 'and', 'b']],
    ['cafe\u0301', ['café']],
    ['', []],
  ])('finds in %s the words %j', (text, words) => {
    expect([...searchWords(text)]).toEqual(words);
  });

  test.prop([anyText])('has no syntax and no separator in a word', (text) => {
    for (const word of searchWords(text)) {
      expect(word).toMatch(/^[\p{L}\p{M}\p{N}\ufffd]+$/u);
      expect(word.isWellFormed()).toBe(true);
    }
  });

  test.prop([anyText, anyText, anyText])('finds every part of a text again', (before, part, after) => {
    expect(hasWords(`${before} ${part} ${after}`, searchWords(part))).toBe(true);
  });
});

describe('excerptOf', () => {
  test.prop([anyText, anyText])('is short, on one line and around the word', (before, after) => {
    const text = `${before} needle ${after}`;
    const excerpt = excerptOf(text, new Set(['needle']));
    expect(excerpt).toContain('needle');
    expect(excerpt.length).toBeLessThanOrEqual(202);
    expect(excerpt).not.toMatch(/[\n\r]/);
    expect(excerpt.isWellFormed()).toBe(true);
  });

  const far = 'filler '.repeat(100);

  it.each([
    { text: `needle ${far} needle and thread ${far} thread`, excerpt: /^….*needle and thread .*…$/ },
    { text: `needle ${far} thread`, excerpt: /^needle filler .*…$/ },
    { text: `${far} ${'needle and '.repeat(13)} thread`, excerpt: /^…and (?:needle and ){6}thread$/ },
    { text: 'nothing of it', excerpt: /^nothing of it$/ },
    { text: `needle needle ${far} needle thread`, excerpt: /needle thread$/ },
  ])('shows the most words together: $excerpt', ({ text, excerpt }) => {
    expect(excerptOf(text, new Set(['needle', 'thread']))).toMatch(excerpt);
  });

  test.prop([anyText, anyText, anyText])(
    'is short, and around all words where it can be',
    (before, between, after) => {
      const text = `${before} needle ${between.slice(0, 50)} thread ${after}`;
      const excerpt = excerptOf(text, new Set(['needle', 'thread']));
      expect(excerpt).toMatch(/needle.*thread/);
      expect(excerpt.length).toBeLessThanOrEqual(202);
      expect(excerpt).not.toMatch(/[\n\r]/);
      expect(excerpt.isWellFormed()).toBe(true);
    },
  );
});
