import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
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
