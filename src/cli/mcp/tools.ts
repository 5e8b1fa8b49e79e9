import { RoundfoldError } from '../../conversation/errors.ts';
import { pagesOf } from '../../memory/pages/pages.ts';
import { formatPages, noSuchPage } from '../../report/page-words.ts';
import { countOf } from '../../report/terminal.ts';
import { messagesOfSpan } from '../../stores/spans.ts';
import type { ArchivedSpan, Store } from '../../stores/store.ts';
import type { StoreAccess } from '../store/access.ts';
import { refuseFaults } from '../store/fault-error.ts';
import { findConversation, findTenant } from '../store/find-conversation.ts';
import { searchSpans } from '../store/search-spans.ts';

/** What a tool answers. */
export interface ToolAnswer {
  readonly [key: string]: unknown;
  readonly content: { type: 'text'; text: string }[];
  readonly isError?: true;
}

/** What the tools may read. */
export interface ToolScope {
  readonly access: StoreAccess;
  /** Undefined: the only one of the store. */
  readonly tenant: string | undefined;
  /** Id of the only conversation that may be read, or its beginning. */
  readonly conversation: string | undefined;
}

export const LARGEST_LIMIT = 50;

/** A page of what a handle holds; a second text says which, and how to go on. */
export function recallTool(
  scope: ToolScope,
  { handle, page }: { readonly handle: string; readonly page: number },
): Promise<ToolAnswer> {
  return answer(scope, async (store) => {
    const span = await findSpan(scope, store, handle);
    if (span === undefined) {
      refuseFaults(scope.access);
      return refusal(
        'Nothing is stored under this handle. Look for the messages by their words with search.',
      );
    }
    const pages = pagesOf(messagesOfSpan(span));
    const text = pages[page - 1];
    if (text === undefined) return refusal(`${capitalised(noSuchPage(page, pages.length))}.`);
    return texts(text, noteOf(page, pages.length));
  });
}

function noteOf(page: number, pages: number): string {
  const place = formatPages({ first: page, last: page }, pages);
  return page === pages ? `${place}, the last one` : `${place}; call recall with page ${page + 1} to go on`;
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

async function findSpan(
  { tenant, conversation }: ToolScope,
  store: Store,
  handle: string,
): Promise<ArchivedSpan | undefined> {
  const only =
    conversation === undefined ? undefined : await findConversation(store, { id: conversation, tenant });
  const owner = only?.tenant ?? (await findTenant(store, tenant));
  const span = owner === undefined ? undefined : await store.recall({ tenant: owner, handle });
  return only === undefined || span?.conversation === only.conversation ? span : undefined;
}

/** Handles, pages, messages and excerpts. */
export function searchTool(
  scope: ToolScope,
  { words, limit }: { readonly words: string; readonly limit: number },
): Promise<ToolAnswer> {
  return answer(scope, async (store) => {
    const { tenant, conversation } = scope;
    const found = await searchSpans(store, { words, limit, tenant, conversation });
    if (found.length === 0) {
      refuseFaults(scope.access);
      return texts('No earlier messages have all of these words. Try fewer, or others.');
    }
    const lines = found.map(
      ({ handle, page, pages, message, excerpt }) =>
        `${handle} page ${page} of ${pages}, message ${message}: ${excerpt}`,
    );
    const count = countOf(found.length, 'match', 'matches');
    return texts(`${count}; call recall with a handle and its page to read one\n${lines.join('\n')}`);
  });
}

/** Runs a tool over the store, and says what is wrong instead of failing. */
async function answer(
  { access }: ToolScope,
  work: (store: Store) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  try {
    const store = access.forReading();
    if (store === undefined) return refusal('Nothing is stored yet.');
    access.takeFaults(); // of calls before
    return await work(store);
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    // What the command line can change, the agent cannot; and who else is in the store is none of its business.
    const remedy =
      error.code === 'usage'
        ? 'Whoever set up this server can say which with --tenant and --conversation.'
        : (error.remedy ?? '');
    return refusal(`${error.message}. ${remedy}`.trim());
  }
}

function refusal(text: string): ToolAnswer {
  return { ...texts(text), isError: true };
}

function texts(...parts: readonly string[]): ToolAnswer {
  return { content: parts.map((text) => ({ type: 'text', text })) };
}
