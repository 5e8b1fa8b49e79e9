import { nameFromColumn, nameInColumn } from '../record/name.ts';
import { conversationsToCollect } from '../retention.ts';
import type { ConversationKey, Retention, StoredConversation } from '../store.ts';
import type { Database } from './database.ts';
import { advanceFence } from './leases.ts';
import { allRows, firstRow, type Operation } from './operation.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';
import { lockConversation } from './write-records.ts';

/** Removes a conversation, and keeps every lease of before from writing to it. */
export async function forgetConversation(
  database: Database,
  work: Work,
  key: ConversationKey,
): Promise<number> {
  return database.write(function* () {
    yield* advanceFence(work);
    const { id } = yield* lockConversation(work, key);
    yield* allRows(work.statements.markForgotten, { id });
    return yield* emptyConversation(work, id);
  });
}

/** Removes what retention does not keep, in small transactions: others want to write as well. */
export async function collectConversations(
  database: Database,
  work: Work,
  retention: Retention,
): Promise<number> {
  const clock = await database.read(() => firstRow(work.statements.now));
  const conversations = await listConversations(database, work, undefined);
  let removed = 0;
  for (const { id, usedAt } of conversationsToCollect(conversations, retention, Number(clock?.now))) {
    removed += await database.write(function* () {
      const row = yield* firstRow(work.statements.lockedUnused, { id, usedAt });
      return row === undefined ? 0 : yield* emptyConversation(work, id);
    });
  }
  await removeTombstones(database, work);
  return removed;
}

/** Conversations with their records counted, the last used first. */
export async function listConversations(
  database: Database,
  work: Work,
  tenant: string | undefined,
): Promise<readonly (StoredConversation & { readonly id: BigInteger })[]> {
  const rows = await database.read(() =>
    tenant === undefined
      ? allRows(work.statements.listAll)
      : allRows(work.statements.listTenant, { tenant: nameInColumn(tenant) }),
  );
  return rows
    .map((row) => ({
      id: row.id,
      tenant: nameFromColumn(row.tenant),
      conversation: nameFromColumn(row.conversation),
      checkpoints: Number(row.checkpoints_count),
      spans: Number(row.spans_count),
      bytes: Number(row.checkpoints_bytes) + Number(row.spans_bytes),
      createdAt: Number(row.created_at),
      usedAt: Number(row.used_at),
    }))
    .filter(({ checkpoints, spans }) => checkpoints + spans > 0);
}

/** Leases that ended, and conversations without records that no lease could still write to. */
async function removeTombstones(database: Database, { statements }: Work): Promise<void> {
  await database.write(function* () {
    yield* allRows(statements.lockLeases);
    yield* allRows(statements.removeEndedLeases);
  });
  await database.write(function* () {
    for (const { id } of yield* allRows(statements.lockedTombstones)) {
      yield* allRows(statements.removeTombstone, { id });
    }
  });
}

function* emptyConversation({ statements, memory }: Work, id: BigInteger): Operation<number> {
  memory.clear();
  yield* allRows(statements.removeWordsOf, { id });
  const spans = yield* allRows(statements.removeSpans, { id });
  const checkpoints = yield* allRows(statements.removeCheckpoints, { id });
  return spans.length + checkpoints.length;
}
