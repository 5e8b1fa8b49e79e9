import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { lineCost } from './line-cost.ts';
import { readUnits } from './line-units.ts';
import { hashOf } from './name-table.ts';
import { SHAPE, scanUnits } from './scan-line.ts';

const nameOf = new Map<number, string>(Object.entries(SHAPE).map(([name, shape]) => [shape, name]));

function scan(line: string) {
  const entities: string[] = [];
  const words: string[] = [];
  const hashes: boolean[] = [];
  const cost = scanUnits(0, readUnits(line), {
    entity: (start, end, shape, hash) => {
      entities.push(`${nameOf.get(shape)}:${line.slice(start, end)}`);
      hashes.push(hash === hashOf(start, end));
    },
    word: (start, end) => words.push(line.slice(start, end)),
  });
  return { entities, words, cost, areHashed: !hashes.includes(false) };
}

describe('scanUnits', () => {
  it.each([
    {
      line: 'open src/core/plan.ts now',
      entities: ['file:plan.ts', 'path:core/plan.ts'],
      words: ['open', 'now'],
    },
    { line: 'in /srv/app/data/', entities: ['folder:app/data'], words: [] },
    { line: 'call readAll_of it', entities: ['snake:readAll_of'], words: ['call'] },
    { line: 'useState or UseState', entities: ['camel:useState', 'pascal:UseState'], words: [] },
    { line: 'MAX_SIZE and TODO', entities: ['capitals:MAX_SIZE', 'capitals:TODO'], words: ['and'] },
    {
      line: 'commit 4f2a91c, 12345 lines, 42',
      entities: ['code:4f2a91c', 'number:12345', 'amount:42'],
      words: ['commit', 'lines'],
    },
    {
      line: 'on 2026-11-16',
      entities: ['code:2026-11-16', 'number:2026', 'amount:11', 'amount:16'],
      words: [],
    },
    {
      line: 'see https://a.example/x?y=1.',
      entities: ['address:https://a.example/x?y=1.', 'folder:a.example/x?y=1'],
      words: ['see'],
    },
    {
      line: 'Frau Müller wartet',
      entities: ['name:Frau', 'name:Müller'],
      words: ['Frau', 'Müller', 'wartet'],
    },
    { line: '検索する 文書', entities: [], words: ['検索する'] },
    { line: 'the end of it.', entities: [], words: ['the', 'end'] },
    { line: 'this.someMap.read()', entities: ['camel:someMap'], words: ['this', 'read'] },
    {
      line: 'README.MD and ../A/notes.txt:12',
      entities: ['file:README.MD', 'file:notes.txt', 'path:A/notes.txt', 'amount:12'],
      words: ['and'],
    },
    { line: 'ab:cd x://', entities: [], words: [] },
    { line: '--flag-7 -x', entities: ['code:flag-7'], words: [] },
  ])('finds names and words in “$line”', ({ line, entities, words }) => {
    expect(scan(line)).toMatchObject({ entities: expect.arrayContaining(entities), words });
  });

  test.prop([fc.string({ unit: 'binary', maxLength: 200 })])('takes any text', (line) => {
    expect(() => scan(line.replaceAll('\n', ' '))).not.toThrow();
  });

  const signs = fc.constantFrom(...'abzABZ019_$./-@~+:;, "#é漢\ud83d\t');
  test.prop([fc.string({ unit: signs, maxLength: 200 })])(
    'finds the cost and the hash of every name in the same pass',
    (line) => {
      const { cost, areHashed } = scan(line);

      expect(cost).toBe(lineCost(line));
      expect(areHashed).toBe(true);
    },
  );

  it('finds the same names whatever stands before them', () => {
    expect(scan('(fooBar)').entities).toEqual(scan('x = fooBar;').entities);
  });
});
