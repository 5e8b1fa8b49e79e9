import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withExampleMemories } from '../../tools/docs/example-memories.ts';

it('the page about memories shows two as they are written today (`npm run docs` writes them)', async () => {
  const page = readFileSync('docs/what-a-memory-says.md', 'utf8');

  expect(page.match(/`text memory=/g)).toHaveLength(2);
  expect(page).toBe(await withExampleMemories(page));
});
