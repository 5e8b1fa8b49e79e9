/** Messages that left a view: how they are named and kept, read by pages, and searched. */

import type { Message } from '../conversation/message.ts';
import type { Hash } from '../conversation/sha256.ts';
import { recogniseFormat } from '../formats/registry.ts';
import { pagePieces, readableParts } from '../memory/pages.ts';
import { excerptOf, searchWords } from './search.ts';
import type { ArchivedSpan, SpanMatch, SpanQuery, Store } from './store.ts';

/** Hexadecimal digits of a name: 128 bits are enough to tell what one conversation has. */
const NAME_LENGTH = 32;

/** A message as it is kept, and the hash of that: worked out once, however many spans it is in. */
export interface KeptMessage {
  readonly json: string;
  readonly digest: string;
}

/** Writes a message down as it is kept. */
export function keptMessage(hash: Hash, raw: unknown): KeptMessage {
  // What JSON has no word for is null in a list.
  const json = JSON.stringify(raw) ?? 'null';
  return { json, digest: hash(json) };
}

/** The name of messages that are kept. It depends on the conversation and on the content, and on nothing else. */
export function spanHandle(hash: Hash, conversation: string, messages: readonly KeptMessage[]): string {
  const digests = messages.map(({ digest }) => digest);
  return `rf:${hash([conversation, ...digests].join('\n')).slice(0, NAME_LENGTH)}`;
}

/** What can be searched in messages that are kept: all that their pages show, without the words that are ours. */
export function searchableText(messages: readonly Message[]): string {
  return messages
    .flatMap((message, index) => readableParts(message, index + 1).map(({ text }) => text))
    .join('');
}

/** The messages of a span as they came, or undefined when its body is no list. */
export function parseSpan({ body }: ArchivedSpan): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The messages of a span, to be read by pages. At least one. */
export function messagesOfSpan(span: ArchivedSpan): readonly Message[] {
  const values = parseSpan(span) ?? [];
  const format = recogniseFormat(values);
  if (format !== undefined && values.length > 0) return values.map((raw) => format.readMessage(raw));
  // Somebody else may have written the record: what it can be found by can at least be read.
  const text = { type: 'text', text: span.text, raw: undefined } as const;
  return [{ role: 'user', blocks: [text], responseId: undefined, usage: undefined, raw: undefined }];
}

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
    excerpt: excerptOf(text, wanted),
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
