import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = import.meta.dirname;
const files = readdirSync(folder).filter(
  (name) => /^chat[\w-]*\.test\.ts$/.test(name) && name !== 'chat-rows.test.ts',
);
const sources = files.map((name) => readFileSync(`${folder}/${name}`, 'utf8'));

const FIRST = 46;
const LAST = 69;

describe('the rows of the checklist that a chat has to show', () => {
  it('have each a test of the chat itself, named by its row, and no other row has', () => {
    const titles = sources.flatMap((source) => [...source.matchAll(/['"`]rows? (\d+(?:, \d+)*): \S/g)]);
    const rows = new Set(titles.flatMap(([, list = '']) => list.split(', ').map(Number)));
    const expected = Array.from({ length: LAST - FIRST + 1 }, (_one, index) => FIRST + index);

    expect([...rows].sort((left, right) => left - right)).toEqual(expected);
  });

  it('are left out nowhere', () => {
    const skipped = sources.flatMap((source) => [
      ...source.matchAll(/\b(?:it|test|describe)\.(?:skip|todo|only|fails|skipIf|runIf)\b/g),
    ]);

    expect(skipped.map(([text]) => text)).toEqual([]);
  });
});
