import { type PageMatch, searchPages } from '../../stores/spans.ts';
import type { Store, StoredConversation } from '../../stores/store.ts';
import { findConversation, findTenant } from './find-conversation.ts';

export interface SpanSearch {
  readonly words: string;
  readonly limit: number;
  readonly tenant: string | undefined;
  /** Id of the only conversation to look in, or its beginning. */
  readonly conversation: string | undefined;
}

/** A page that matches, and the conversation it was found in. */
export interface FoundPage extends PageMatch {
  readonly tenant: string;
  readonly conversation: string;
}

/** Looks in one conversation or in all of a tenant, the last used first. */
export async function searchSpans(store: Store, search: SpanSearch): Promise<readonly FoundPage[]> {
  const conversations = await conversationsOf(store, search);
  const found: FoundPage[] = [];
  for (const { tenant, conversation } of conversations) {
    const limit = search.limit - found.length;
    if (limit <= 0) break;
    const matches = await searchPages(store, { tenant, conversation, words: search.words, limit });
    found.push(...matches.map((match) => ({ tenant, conversation, ...match })));
  }
  if (found.length === 0) await lookForSeals(store, conversations);
  return found;
}

async function conversationsOf(
  store: Store,
  { tenant, conversation }: SpanSearch,
): Promise<readonly StoredConversation[]> {
  if (conversation !== undefined) return [await findConversation(store, { id: conversation, tenant })];
  const found = await findTenant(store, tenant);
  return found === undefined ? [] : store.list({ tenant: found });
}

/** Conversations to open in order to learn whether they can be. */
const OPENED = 20;

/** Sealed texts are in no index, so that a search without the secret finds nothing and meets no fault: read something. */
async function lookForSeals(store: Store, conversations: readonly StoredConversation[]): Promise<void> {
  for (const key of conversations.slice(0, OPENED)) await store.checkpoints(key);
}
