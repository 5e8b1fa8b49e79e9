import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { PAGE_CHARACTERS } from '../memory/pages.ts';
import { memoryStore } from './memory.ts';
import { messagesOfSpan, searchableText, searchPages } from './spans.ts';
import type { ArchivedSpan } from './store.ts';

const key = { tenant: 'mira', conversation: 'c' };
const filler = `${'filler '.repeat(10)}\n`.repeat(PAGE_CHARACTERS / 70);
const user = (text: string) => ({ role: 'user', content: text });
const calls = (input: unknown) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'call_1', name: 'write', input }],
});

function spanOf(raws: readonly unknown[], changes: Partial<ArchivedSpan> = {}): ArchivedSpan {
  return {
    ...key,
    handle: 'rf:1',
    start: 0,
    end: raws.length,
    body: new TextEncoder().encode(JSON.stringify(raws)),
    text: searchableText(raws.map((raw) => anthropicMessages.readMessage(raw))),
    createdAt: 0,
    ...changes,
  };
}

async function search(words: string, spans: readonly ArchivedSpan[], limit = 10) {
  const store = memoryStore();
  await store.restore(spans.map((span) => ({ span })));
  return searchPages(store, { ...key, words, limit });
}

describe('searchPages', () => {
  const long = spanOf([
    user('The needle and the thread.'),
    user(filler),
    user('Only a needle.'),
    calls({ path: 'a.ts', content: 'line\nneedle\nthread "and" all' }),
    user(filler),
    user(`${filler}thread, needle`),
  ]);

  it('finds each page with all of the words, and the message with most of them', async () => {
    const found = await search('Needle thread', [long]);

    expect(found).toMatchObject([
      { handle: 'rf:1', start: 0, end: 6, page: 1, pages: 4, message: 1 },
      { page: 2, pages: 4, message: 4, excerpt: 'write path: a.ts content: line needle thread "and" all' },
      { page: 4, pages: 4, message: 6 },
    ]);
    expect(found[2]?.excerpt).toMatch(/^….*filler thread, needle$/);
  });

  it('keeps to the limit', async () => {
    expect(await search('needle', [long], 2)).toHaveLength(2);
    expect(await search('needle', [long, { ...long, handle: 'rf:2', start: 9, end: 15 }], 4)).toMatchObject([
      { handle: 'rf:1' },
      { handle: 'rf:1' },
      { handle: 'rf:1' },
      { handle: 'rf:2' },
    ]);
  });

  it('names the page with most of the words where no page has all', async () => {
    const apart = spanOf([
      user('a needle'),
      user(filler),
      user('needle with thread'),
      user(filler),
      user('eye'),
    ]);

    expect(await search('needle thread eye', [apart])).toMatchObject([{ page: 2, message: 3 }]);
  });

  it('does not find words of ours', async () => {
    expect(await search('message', [long])).toEqual([]);
    expect(await search('call', [long])).toEqual([]);
  });

  it('serves what somebody else has written', async () => {
    const foreign = spanOf([], { body: new TextEncoder().encode('what?'), text: 'a needle in hay', end: 1 });

    expect(messagesOfSpan(foreign)).toMatchObject([{ blocks: [{ text: 'a needle in hay' }] }]);
    expect(await search('needle', [foreign])).toMatchObject([
      { page: 1, message: 1, excerpt: 'a needle in hay' },
    ]);
    expect(await search('hidden', [{ ...long, text: 'hidden' }])).toMatchObject([
      { page: 1, pages: 4, message: 1, excerpt: 'hidden' },
    ]);
  });
});
