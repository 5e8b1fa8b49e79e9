import { pagePieces } from '../memory/pages/pages.ts';
import { closestExcerpt, searchWords } from './search-words.ts';
import { messagesOfSpan } from './span-pages.ts';
import type { ArchivedSpan, SpanMatch, SpanQuery, Store } from './store.ts';

/** A page on which words were found. */
export interface PageMatch extends SpanMatch {
  /** From 1. */
  readonly page: number;
  /** How many pages the handle has. */
  readonly pages: number;
  /** The message on that page with most of the words: its number among those of the handle, from 1. */
  readonly message: number;
}

/** Finds pages with all of the words; of messages that have them on different pages only, the page with most of them. */
export async function searchPages(store: Store, query: SpanQuery): Promise<readonly PageMatch[]> {
  const wanted = searchWords(query.words);
  const found: PageMatch[] = [];
  for (const match of await store.search(query)) {
    if (found.length >= query.limit) break;
    const span = await store.recall({ tenant: query.tenant, handle: match.handle });
    if (span !== undefined) found.push(...matchesIn(span, match, wanted));
  }
  return found.slice(0, query.limit);
}

function matchesIn(span: ArchivedSpan, match: SpanMatch, wanted: ReadonlySet<string>): readonly PageMatch[] {
  const sections = sectionsOf(span);
  const pages = sections.at(-1)?.page ?? 1;
  const found = pagesWith(sections, wanted);
  const most = found.reduce((largest, { words }) => Math.max(largest, words), 0);
  const best = found.filter(({ words }) => words === most).slice(0, most === wanted.size ? undefined : 1);
  // The words may stand in what a record is found by and nowhere in its messages: somebody else has written it.
  if (best.length === 0) return [{ ...match, page: 1, pages, message: 1 }];
  return best.map(({ section: { page, message, text } }) => ({
    ...match,
    page,
    pages,
    message: message + 1,
    excerpt: closestExcerpt(text, wanted),
  }));
}

/** What one message says on one page. */
interface Section {
  readonly page: number;
  readonly message: number;
  readonly text: string;
}

function sectionsOf(span: ArchivedSpan): readonly Section[] {
  const sections: { page: number; message: number; text: string }[] = [];
  for (const { page, message, text, labelLength } of pagePieces(messagesOfSpan(span))) {
    const last = sections.at(-1);
    const said = text.slice(labelLength);
    if (last?.page === page && last.message === message) last.text += said;
    else sections.push({ page, message, text: said });
  }
  return sections;
}

/** How many of the words a page has, and its section with most of them. */
interface PageWords {
  readonly words: number;
  readonly section: Section;
}

/** The pages with any of the words, in order. */
function pagesWith(sections: readonly Section[], wanted: ReadonlySet<string>): readonly PageWords[] {
  const pages = new Map<number, { words: ReadonlySet<string>; most: number; section: Section }>();
  for (const section of sections) {
    const words = wanted.intersection(searchWords(section.text));
    if (words.size === 0) continue;
    const known = pages.get(section.page);
    const isBest = known === undefined || words.size > known.most;
    pages.set(section.page, {
      words: known?.words.union(words) ?? words,
      most: isBest ? words.size : known.most,
      section: isBest ? section : known.section,
    });
  }
  return [...pages.values()].map(({ words, section }) => ({ words: words.size, section }));
}
