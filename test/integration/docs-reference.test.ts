import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEntryPoints } from '../../tools/docs/api-pages.ts';
import { renderReference } from '../../tools/docs/reference.ts';

const FOLDER = 'docs/reference';
const rendered = renderReference();

describe('the reference', () => {
  test('has the pages that the code gives, and no other', () => {
    const committed = globSync(`${FOLDER}/**/*.md`).map((file) => relative(FOLDER, file));
    expect(committed.sort(), 'run `npm run docs`').toEqual([...rendered.keys()].sort());
  });

  test.each([...rendered.keys()])('%s says what the code says', (path) => {
    expect(readFileSync(`${FOLDER}/${path}`, 'utf8'), 'run `npm run docs`').toBe(rendered.get(path));
  });
});

describe('entry points', () => {
  test.each(readEntryPoints())(
    'everything that $name has at run time is on its page',
    async ({ name, declarations }) => {
      const values = [...declarations.values()].filter(({ kind }) => kind !== 'interface' && kind !== 'type');
      const actual = Object.keys((await import(name)) as object);
      expect(values.map((value) => value.name).sort()).toEqual(actual.sort());
    },
  );
});
