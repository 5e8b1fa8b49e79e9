import type { Checkpoint } from '../../core/checkpoint.ts';
import type {
  ArchivedSpan,
  CheckpointLookup,
  ConversationKey,
  SpanMatch,
  SpanQuery,
  StoreFault,
} from '../../core/store.ts';
import { byPlace } from '../order.ts';
import { isFault } from '../record/codec.ts';
import { nameInColumn } from '../record/name.ts';
import { excerptOf, hasWords, searchWords } from '../search-words.ts';
import {
  type CheckpointRow,
  linkFromColumn,
  readCheckpointRow,
  readSpanRow,
  rowsOf,
  served,
} from './rows.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/**
 * The longest checkpoint that is true and can be served. One query where that is the longest of all, which it nearly always
 * is: a branch of the conversation may have a longer one. Then all are looked through, and one more is read.
 */
export async function findCheckpoint(
  work: Work,
  { tenant, configuration, conversations, from, to, isTrue }: CheckpointLookup,
): Promise<Checkpoint | undefined> {
  const { session, statements, dialect } = work;
  const asked = {
    tenant: nameInColumn(tenant),
    configuration: nameInColumn(configuration),
    conversations: dialect.listValue(conversations.map(nameInColumn)),
    from,
    to,
  };
  const longest = await session.first(statements.longestCheckpoint, asked);
  if (longest === undefined) return undefined;
  const first = isTrue(linkFromColumn(longest.link)) ? await serveCheckpoint(work, longest) : undefined;
  if (first !== undefined) return first;
  for (const { id, link } of await session.run(statements.candidates, asked)) {
    if (id === longest.id || !isTrue(linkFromColumn(link))) continue;
    const row = await session.first(statements.checkpointById, { id });
    const checkpoint = row === undefined ? undefined : await serveCheckpoint(work, row);
    if (checkpoint !== undefined) return checkpoint;
  }
  return undefined;
}

/** The checkpoint of a row, which is used with it; undefined where it cannot be served. */
async function serveCheckpoint(
  work: Work,
  row: CheckpointRow & { readonly stale: number; readonly conversation_id: BigInteger },
): Promise<Checkpoint | undefined> {
  const checkpoint = served(work, readCheckpointRow(work.codec, row));
  if (checkpoint !== undefined && row.stale === 1) await touch(work, row.conversation_id);
  return checkpoint;
}

/** A span of that name that can be served, the nearest to the beginning of a conversation, of the oldest such one. */
export async function recallSpan(
  work: Work,
  { tenant, handle }: { readonly tenant: string; readonly handle: string },
): Promise<ArchivedSpan | undefined> {
  const { session, statements, codec } = work;
  const names = { tenant: nameInColumn(tenant), handle: nameInColumn(handle) };
  for (let offset = 0; ; offset++) {
    const row = await session.first(statements.spanByHandle, { ...names, offset });
    if (row === undefined) return undefined;
    const { conversation, place, body } = row;
    const span = served(work, readSpanRow(codec, { ...names, conversation, place, body }));
    if (span === undefined) continue;
    if (row.stale === 1) await touch(work, row.conversation_id);
    return span;
  }
}

/** Spans with all of the words. Sealed ones are not indexed: those of the conversation are opened and read. */
export async function searchSpans(
  work: Work,
  { words, limit, ...key }: SpanQuery,
): Promise<readonly SpanMatch[]> {
  const wanted = searchWords(words);
  const conversation = wanted.size === 0 ? undefined : await conversationRow(work, key);
  if (conversation === undefined) return [];
  const { id } = conversation;
  const found = work.codec.isSealed
    ? (await spansOf(work, id)).filter(({ text }) => hasWords(text, wanted)).slice(0, limit)
    : await indexedSpans(work, id, { wanted, limit });
  if (found.length > 0 && conversation.stale === 1) await touch(work, id);
  return found.map(({ handle, start, end, text }) => ({
    handle,
    start,
    end,
    excerpt: excerptOf(text, wanted),
  }));
}

async function indexedSpans(
  work: Work,
  id: BigInteger,
  { wanted, limit }: { readonly wanted: ReadonlySet<string>; readonly limit: number },
): Promise<readonly ArchivedSpan[]> {
  const query = work.dialect.queryValue(String(id), wanted);
  const rows = await work.session.run(work.statements.matchingSpans, { id, query, limit });
  return rows.flatMap((row) => served(work, readSpanRow(work.codec, row)) ?? []).sort(byPlace);
}

export async function listCheckpoints(work: Work, key: ConversationKey): Promise<readonly Checkpoint[]> {
  const conversation = await conversationRow(work, key);
  if (conversation === undefined) return [];
  const found: Checkpoint[] = [];
  for await (const row of rowsOf(work, work.statements.checkpointsOf, { id: conversation.id })) {
    found.push(...[served(work, readCheckpointRow(work.codec, row)) ?? []].flat());
  }
  return found.sort((left, right) => left.boundary - right.boundary);
}

export async function listSpans(work: Work, key: ConversationKey): Promise<readonly ArchivedSpan[]> {
  const conversation = await conversationRow(work, key);
  return conversation === undefined ? [] : spansOf(work, conversation.id);
}

async function spansOf(work: Work, id: BigInteger): Promise<readonly ArchivedSpan[]> {
  const found: ArchivedSpan[] = [];
  for await (const row of rowsOf(work, work.statements.spansOf, { id })) {
    const span = served(work, readSpanRow(work.codec, row));
    if (span !== undefined) found.push(span);
  }
  return found.sort(byPlace);
}

/** What is wrong with any record. */
export async function findFaults(work: Work): Promise<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  for await (const row of rowsOf(work, work.statements.allCheckpoints)) {
    const found = readCheckpointRow(work.codec, row);
    if (isFault(found)) faults.push(found);
  }
  for await (const row of rowsOf(work, work.statements.allSpans)) {
    const found = readSpanRow(work.codec, row);
    if (isFault(found)) faults.push(found);
  }
  return faults;
}

async function conversationRow({ session, statements }: Work, key: ConversationKey) {
  const names = { tenant: nameInColumn(key.tenant), conversation: nameInColumn(key.conversation) };
  const [row] = await session.run(statements.conversation, names);
  return row;
}

/** Reading is worth more than knowing when it was: a touch that fails is no failure. */
async function touch({ session, statements }: Work, id: BigInteger): Promise<void> {
  try {
    await session.run(statements.touch, { id });
  } catch {
    // The next reader tries again.
  }
}
