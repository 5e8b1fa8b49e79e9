import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { SHAPE, scanLine } from './scan-line.ts';

const nameOf = new Map<number, string>(Object.entries(SHAPE).map(([name, shape]) => [shape, name]));

function scan(line: string) {
  const entities: string[] = [];
  const words: string[] = [];
  scanLine(line, {
    entity: (start, end, shape) => entities.push(`${nameOf.get(shape)}:${line.slice(start, end)}`),
    word: (start, end) => words.push(line.slice(start, end)),
  });
  return { entities, words };
}

describe('scanLine', () => {
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
  ])('finds names and words in “$line”', ({ line, entities, words }) => {
    expect(scan(line)).toMatchObject({ entities: expect.arrayContaining(entities), words });
  });

  test.prop([fc.string({ unit: 'binary', maxLength: 200 })])('takes any text', (line) => {
    expect(() => scan(line.replaceAll('\n', ' '))).not.toThrow();
  });

  it('finds the same names whatever stands before them', () => {
    expect(scan('(fooBar)').entities).toEqual(scan('x = fooBar;').entities);
  });
});
