import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as entry from '../../src/compaction/strategies/index.ts';
import * as root from '../../src/index.ts';
import { transcriptReaders } from '../../src/transcripts/registry.ts';
import { type Snippet, snippetsOf, writtenPages } from '../support/snippets.ts';

const pages = writtenPages().map((page) => ({ page, snippets: snippetsOf(page) }));
const running = pages.flatMap(({ snippets }) => snippets).filter(({ runs }: Snippet) => runs);

/** What people of the field look for by name: each is shown at work in a guide, in a block that runs. */
describe('a guide shows at work', () => {
  test.each([
    'truncateHeadForRetry',
    'nameRound',
    'largestRound',
    'safeSplitPoint',
    'legalCuts',
    'renderTranscript',
    'originalCount',
    'targetProgress',
    'progressInput',
    'unfoldView',
    'tokenWarningState',
    'shouldAutoCompact',
    'shouldContextCollapse',
    'messagesToKeepIndex',
    'withBreaker',
    'snip',
    'slidingWindow',
    'summarize',
  ])('%s', (name) => {
    const used = new RegExp(String.raw`\b${name}\(`);
    expect(running.filter(({ text }) => used.test(text)).map(({ page }) => page)).not.toEqual([]);
  });
});

test.each([
  'API round',
  'prompt too long',
  'covered_until',
  'circuit breaker',
  'recursion guard',
  'split point',
  'trimMessages',
  'summarizationMiddleware',
  'pruneMessages',
  '/compact',
])('the guides speak of %s', (term) => {
  const texts = writtenPages().map((page) => readFileSync(page, 'utf8').toLowerCase());
  expect(texts.some((text) => text.includes(term.toLowerCase()))).toBe(true);
});

describe('the lists that are written by hand', () => {
  const library = readFileSync('docs/library.md', 'utf8');
  const choosing = readFileSync('docs/choosing-a-strategy.md', 'utf8');

  test.each(entry.strategies.map(({ name }) => name))('have the strategy %s', (name) => {
    expect(library.includes(`\`${name}\``), 'name it in docs/library.md').toBe(true);
    const row = `| [${name}](reference/strategies/${name}.md)`;
    expect(choosing.includes(row), 'add a row to docs/choosing-a-strategy.md').toBe(true);
  });

  test.each(Object.keys(entry).filter((name) => name.startsWith('with')))('have the decorator %s', (name) => {
    expect(library.includes(`\`${name}\``), 'name it in docs/library.md').toBe(true);
  });

  const products = transcriptReaders(() => undefined).flatMap(({ product }) => product ?? []);
  test.each(products)('have the files of %s', (product) => {
    expect(readFileSync('README.md', 'utf8').includes(product), 'name them in README.md').toBe(true);
  });

  test('say how many values the root has', () => {
    const counted = /\*\*A small root\.\*\* (\d+) values/.exec(readFileSync('ARCHITECTURE.md', 'utf8'))?.[1];
    expect(Number(counted), 'decision 19 of ARCHITECTURE.md').toBe(Object.keys(root).length);
  });
});
