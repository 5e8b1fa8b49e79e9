import type { Checkpoint } from '../checkpoint.ts';
import { byPlace } from '../order.ts';
import { isFault } from '../record/codec.ts';
import { nameInColumn } from '../record/name.ts';
import { excerptOf, hasWords, searchWords } from '../search-words.ts';
import type {
  ArchivedSpan,
  CheckpointLookup,
  ConversationKey,
  SpanMatch,
  SpanQuery,
  StoreFault,
} from '../store.ts';
import { markUsed, touch, type UseOfConversation } from './mark-used.ts';
import { allRows, eachRow, firstRow, type Operation } from './operation.ts';
import { type CheckpointRow, linkFromColumn, readCheckpointRow, readSpanRow, served } from './rows.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/**
 * The longest checkpoint that is true and can be served. One query where that is the longest of all, which it nearly always
 * is: a branch of the conversation may have a longer one. Then all are looked through, and one more is read.
 */
export function* findCheckpoint(
  work: Work,
  { tenant, configuration, conversations, from, to, isTrue }: CheckpointLookup,
): Operation<Checkpoint | undefined> {
  const { statements, dialect } = work;
  const asked = {
    tenant: nameInColumn(tenant),
    configuration: nameInColumn(configuration),
    conversations: dialect.listValue(conversations.map(nameInColumn)),
    from,
    to,
  };
  const longest = yield* firstRow(statements.longestCheckpoint, asked);
  if (longest === undefined) return undefined;
  const first = isTrue(linkFromColumn(longest.link)) ? yield* serveCheckpoint(work, longest) : undefined;
  if (first !== undefined) return first;
  for (const { id, link } of yield* allRows(statements.candidates, asked)) {
    if (id === longest.id || !isTrue(linkFromColumn(link))) continue;
    const row = yield* firstRow(statements.checkpointById, { id });
    const checkpoint = row === undefined ? undefined : yield* serveCheckpoint(work, row);
    if (checkpoint !== undefined) return checkpoint;
  }
  return undefined;
}

/** The checkpoint of a row, which is used with it; undefined where it cannot be served. */
function* serveCheckpoint(
  work: Work,
  row: CheckpointRow & UseOfConversation,
): Operation<Checkpoint | undefined> {
  const checkpoint = served(work, readCheckpointRow(work.codec, row));
  if (checkpoint !== undefined) yield* markUsed(work, row);
  return checkpoint;
}

/** Spans with all of the words. Sealed ones are not indexed: those of the conversation are opened and read. */
export function* searchSpans(
  work: Work,
  { words, limit, ...key }: SpanQuery,
): Operation<readonly SpanMatch[]> {
  const wanted = searchWords(words);
  const conversation = wanted.size === 0 ? undefined : yield* conversationRow(work, key);
  if (conversation === undefined) return [];
  const { id } = conversation;
  const found = work.codec.isSealed
    ? (yield* spansOf(work, id)).filter(({ text }) => hasWords(text, wanted)).slice(0, limit)
    : yield* indexedSpans(work, id, { wanted, limit });
  if (found.length > 0 && conversation.stale === 1) yield* touch(work, id);
  return found.map(({ handle, start, end, text }) => ({
    handle,
    start,
    end,
    excerpt: excerptOf(text, wanted),
  }));
}

function* indexedSpans(
  work: Work,
  id: BigInteger,
  { wanted, limit }: { readonly wanted: ReadonlySet<string>; readonly limit: number },
): Operation<readonly ArchivedSpan[]> {
  const query = work.dialect.queryValue(String(id), wanted);
  const rows = yield* allRows(work.statements.matchingSpans, { id, query, limit });
  return rows.flatMap((row) => served(work, readSpanRow(work.codec, row)) ?? []).sort(byPlace);
}

export function* listCheckpoints(work: Work, key: ConversationKey): Operation<readonly Checkpoint[]> {
  const conversation = yield* conversationRow(work, key);
  if (conversation === undefined) return [];
  const found: Checkpoint[] = [];
  yield* eachRow(work.statements.checkpointsOf, { id: conversation.id }, (row) => {
    const checkpoint = served(work, readCheckpointRow(work.codec, row));
    if (checkpoint !== undefined) found.push(checkpoint);
  });
  return found.sort((left, right) => left.boundary - right.boundary);
}

export function* listSpans(work: Work, key: ConversationKey): Operation<readonly ArchivedSpan[]> {
  const conversation = yield* conversationRow(work, key);
  return conversation === undefined ? [] : yield* spansOf(work, conversation.id);
}

function* spansOf(work: Work, id: BigInteger): Operation<readonly ArchivedSpan[]> {
  const found: ArchivedSpan[] = [];
  yield* eachRow(work.statements.spansOf, { id }, (row) => {
    const span = served(work, readSpanRow(work.codec, row));
    if (span !== undefined) found.push(span);
  });
  return found.sort(byPlace);
}

/** What is wrong with any record. */
export function* findFaults(work: Work): Operation<readonly StoreFault[]> {
  const faults: StoreFault[] = [];
  yield* eachRow(work.statements.allCheckpoints, {}, (row) => {
    const found = readCheckpointRow(work.codec, row);
    if (isFault(found)) faults.push(found);
  });
  yield* eachRow(work.statements.allSpans, {}, (row) => {
    const found = readSpanRow(work.codec, row);
    if (isFault(found)) faults.push(found);
  });
  return faults;
}

function* conversationRow({ statements }: Work, key: ConversationKey) {
  const names = { tenant: nameInColumn(key.tenant), conversation: nameInColumn(key.conversation) };
  return yield* firstRow(statements.conversation, names);
}
