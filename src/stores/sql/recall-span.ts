import { isFault } from '../record/codec.ts';
import { nameInColumn } from '../record/name.ts';
import type { ArchivedSpan } from '../store.ts';
import type { Database } from './database.ts';
import { markUsed } from './mark-used.ts';
import { firstRow, type Operation } from './operation.ts';
import { readFoundSpan, served } from './rows.ts';
import type { SpanName } from './span-memory.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/**
 * The span of that name that can be served, the nearest to the beginning of a conversation, of the oldest such one. It is
 * used with it.
 */
export function recallSpan(
  database: Database,
  work: Work,
  name: SpanName,
): ArchivedSpan | undefined | Promise<ArchivedSpan | undefined> {
  const isExpected = work.memory.expects(name.handle);
  const seen = isExpected ? undefined : seeSpan(database, work, name);
  return seen ?? database.read(() => findSpan(work, name, isExpected));
}

/** The first one where nothing has to be done but to read it: its conversation is known, and was used a short while ago. */
function seeSpan(
  database: Database,
  { statements, conversations, codec }: Work,
  name: SpanName,
): ArchivedSpan | undefined {
  const { tenant, handle } = columnsOf(name);
  const row = database.glance(statements.bodyByHandle, tenant, handle);
  if (row === undefined) return undefined;
  const [place, id, body] = row as readonly [BigInteger, BigInteger, Uint8Array]; // as they are selected
  const conversation = conversations.nameOf(id);
  if (conversation === undefined) return undefined;
  const span = readFoundSpan(codec, name, { place, conversation, body });
  return isFault(span) ? undefined : span;
}

function* findSpan(work: Work, name: SpanName, isExpected: boolean): Operation<ArchivedSpan | undefined> {
  const { memory, conversations, statements, codec } = work;
  const columns = columnsOf(name);
  // Asked first: whatever is written while the span is read belongs to the next generation.
  const generation = isExpected ? yield* work.generation() : undefined;
  const known = generation === undefined ? undefined : memory.get(name, generation);
  if (known !== undefined) return known;

  let row = yield* firstRow(statements.spanByHandle, columns);
  while (row !== undefined) {
    const span = served(work, readFoundSpan(codec, name, row));
    if (span !== undefined) {
      const usedAt = yield* markUsed(work, row);
      conversations.add(row.conversation_id, { name: row.conversation, usedAt });
      if (generation !== undefined) memory.add({ span, usedAt }, generation);
      return span;
    }
    const after = { ...columns, lastPlace: row.place, lastConversation: row.conversation_id };
    row = yield* firstRow(statements.nextSpanByHandle, after);
  }
  return undefined;
}

function columnsOf({ tenant, handle }: SpanName) {
  return { tenant: nameInColumn(tenant), handle: nameInColumn(handle) };
}
