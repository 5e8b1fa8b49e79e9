import type { ConversationKey, Retention, StoredConversation } from '../../core/store.ts';
import { nameFromColumn, nameInColumn } from '../record/name.ts';
import { conversationsToCollect } from '../retention.ts';
import type { Database, Session } from './database.ts';
import { advanceFence } from './leases.ts';
import type { Statements } from './statements.ts';
import type { BigInteger } from './tables.ts';
import { lockConversation } from './write-records.ts';

/** Removes a conversation, and keeps every lease of before from writing to it. */
export async function forgetConversation(
  database: Database,
  statements: Statements,
  key: ConversationKey,
): Promise<number> {
  return database.write(async (session) => {
    await advanceFence(database, statements, session);
    const { id } = await lockConversation({ session, statements }, key);
    await session.run(statements.markForgotten, { id });
    return emptyConversation(session, statements, id);
  });
}

/** Removes what retention does not keep, in small transactions: others want to write as well. */
export async function collectConversations(
  database: Database,
  statements: Statements,
  retention: Retention,
): Promise<number> {
  const [clock] = await database.read((session) => session.run(statements.now));
  const conversations = await listConversations(database, statements, undefined);
  let removed = 0;
  for (const { id, usedAt } of conversationsToCollect(conversations, retention, Number(clock?.now))) {
    removed += await database.write(async (session) => {
      const [row] = await session.run(statements.lockedUnused, { id, usedAt });
      return row === undefined ? 0 : emptyConversation(session, statements, id);
    });
  }
  await removeTombstones(database, statements);
  return removed;
}

/** Conversations with their records counted, the last used first. */
export async function listConversations(
  database: Database,
  statements: Statements,
  tenant: string | undefined,
): Promise<readonly (StoredConversation & { readonly id: BigInteger })[]> {
  const rows = await database.read((session) =>
    tenant === undefined
      ? session.run(statements.listAll)
      : session.run(statements.listTenant, { tenant: nameInColumn(tenant) }),
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
async function removeTombstones(database: Database, statements: Statements): Promise<void> {
  await database.write(async (session) => {
    await session.run(statements.lockLeases);
    await session.run(statements.removeEndedLeases);
  });
  await database.write(async (session) => {
    for (const { id } of await session.run(statements.lockedTombstones)) {
      await session.run(statements.removeTombstone, { id });
    }
  });
}

async function emptyConversation(session: Session, statements: Statements, id: BigInteger): Promise<number> {
  await session.run(statements.removeWordsOf, { id });
  const spans = await session.run(statements.removeSpans, { id });
  const checkpoints = await session.run(statements.removeCheckpoints, { id });
  return spans.length + checkpoints.length;
}
