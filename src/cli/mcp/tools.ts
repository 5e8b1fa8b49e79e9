import { RoundfoldError } from '../../core/errors.ts';
import type { ArchivedSpan, Store } from '../../core/store.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { StoreAccess } from '../store/access.ts';
import { refuseFaults } from '../store/fault-error.ts';
import { findConversation, findTenant } from '../store/find-conversation.ts';
import { searchSpans } from '../store/search-spans.ts';
import { formatPlace } from '../store/short-forms.ts';

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

/** Characters that one call gives at most: a model asks for more when it needs more. */
export const MAXIMUM_CHARACTERS = 20_000;

export const LARGEST_LIMIT = 50;

/** The messages of a handle, byte for byte, in pieces; a second text says how to go on. */
export function recallTool(
  scope: ToolScope,
  { handle, offset }: { readonly handle: string; readonly offset: number },
): Promise<ToolAnswer> {
  return answer(scope, async (store) => {
    const span = await findSpan(scope, store, handle);
    if (span === undefined) {
      refuseFaults(scope.access);
      return refusal(
        'Nothing is stored under this handle. Look for the messages by their words with search.',
      );
    }
    const text = Buffer.from(span.body).toString();
    if (offset > 0 && offset >= text.length) {
      return refusal(`The offset is behind the end: there are ${formatCount(text.length)} characters.`);
    }
    const end = endOfPiece(text, offset);
    const note = `Clipped: characters ${offset} to ${end} of ${text.length}. Go on with offset ${end}.`;
    return texts(text.slice(offset, end), ...(end < text.length ? [note] : []));
  });
}

/** A cut never goes through a character. */
function endOfPiece(text: string, offset: number): number {
  const end = Math.min(text.length, offset + MAXIMUM_CHARACTERS);
  const isInside = end < text.length && /^[\uDC00-\uDFFF]/.test(text.charAt(end));
  return isInside ? end - 1 : end;
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

/** Handles, places and excerpts. */
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
    const lines = found.map((match) => `${match.handle} (${formatPlace(match)}): ${match.excerpt}`);
    return texts(`${countOf(found.length, 'match', 'matches')}\n${lines.join('\n')}`);
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
