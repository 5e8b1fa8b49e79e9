import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { numberSlot, prepare, slot } from './compile.ts';
import type { Dialect, DialectFragments } from './dialect.ts';
import { staleAt } from './stale-at.ts';
import type { BigInteger, Tables } from './tables.ts';

/** Statements about conversations. */
export function conversationStatements(
  builder: Kysely<Tables>,
  fragments: DialectFragments,
  dialect: Dialect,
) {
  return {
    ...singleConversation(builder, fragments, dialect),
    ...listings(builder),
    ...tombstones(builder, dialect),
  };
}

function singleConversation(
  builder: Kysely<Tables>,
  { clock, nextFence }: DialectFragments,
  { locksRows }: Dialect,
) {
  const conversation = builder
    .selectFrom('conversations')
    .select(['id', 'forgotten_fence', 'used_at', staleAt(clock)])
    .where('tenant', '=', slot<string>('tenant'))
    .where('conversation', '=', slot<string>('conversation'));

  return {
    now: prepare(builder.selectNoFrom(clock.as('now'))),
    conversation: prepare(conversation),
    /** The conversation, which nobody else changes until the transaction ends. */
    lockedConversation: prepare(locksRows ? conversation.forUpdate() : conversation),
    addConversation: prepare(
      builder
        .insertInto('conversations')
        .values({
          tenant: slot<string>('tenant'),
          conversation: slot<string>('conversation'),
          created_at: clock,
          used_at: clock,
          forgotten_fence: 0,
        })
        .onConflict((conflict) => conflict.columns(['tenant', 'conversation']).doNothing())
        .returning(['id', 'used_at']),
    ),
    touch: prepare(
      builder
        .updateTable('conversations')
        .set({ used_at: clock })
        .where('id', '=', slot<BigInteger>('id'))
        .returning('used_at'),
    ),
    markForgotten: prepare(
      builder
        .updateTable('conversations')
        .set({ forgotten_fence: nextFence, created_at: clock, used_at: clock })
        .where('id', '=', slot<BigInteger>('id'))
        .returning('forgotten_fence'),
    ),
    /** Locked, if nobody has used it since. */
    lockedUnused: prepare(
      (locksRows ? conversation.clearWhere().forUpdate() : conversation.clearWhere())
        .where('id', '=', slot<BigInteger>('id'))
        .where('used_at', '=', numberSlot('usedAt')),
    ),
  };
}

function listings(builder: Kysely<Tables>) {
  const listing = builder
    .selectFrom('conversations')
    .select((of) => [
      'id',
      'tenant',
      'conversation',
      'created_at',
      'used_at',
      ...countAndBytes(of, 'checkpoints'),
      ...countAndBytes(of, 'spans'),
    ])
    .orderBy('used_at', 'desc')
    .orderBy('tenant')
    .orderBy('conversation');

  return {
    listAll: prepare(listing),
    listTenant: prepare(listing.where('tenant', '=', slot<string>('tenant'))),
  };
}

/** Conversations without records. They are needed as long as a lease from before could still write. */
function tombstones(builder: Kysely<Tables>, { locksRows }: Dialect) {
  const hasNoRecords = sql<boolean>`not exists ${ofConversation(builder, 'checkpoints')}
    and not exists ${ofConversation(builder, 'spans')}`;
  const unneeded = builder
    .selectFrom('conversations')
    .select('id')
    .where(hasNoRecords)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('leases')
            .select('leases.fence')
            .whereRef('leases.fence', '<', 'conversations.forgotten_fence'),
        ),
      ),
    );

  return {
    lockedTombstones: prepare(locksRows ? unneeded.forUpdate().skipLocked() : unneeded),
    /** Looks again: before it was locked, somebody may have written. */
    removeTombstone: prepare(
      builder
        .deleteFrom('conversations')
        .where('id', '=', slot<BigInteger>('id'))
        .where(hasNoRecords)
        .returning('id'),
    ),
  };
}

type RecordTable = 'checkpoints' | 'spans';

function ofConversation(builder: Kysely<Tables>, table: RecordTable) {
  return builder
    .selectFrom(table)
    .select(sql<number>`1`.as('one'))
    .whereRef(sql.ref(`${table}.conversation_id`), '=', sql.ref('conversations.id'));
}

function countAndBytes(of: ExpressionBuilder<Tables, 'conversations'>, table: RecordTable) {
  const records = of
    .selectFrom(table)
    .whereRef(sql.ref(`${table}.conversation_id`), '=', sql.ref('conversations.id'));
  return [
    records.select(sql<BigInteger>`count(*)`.as('count')).as(`${table}_count` as const),
    records
      .select(sql<BigInteger>`coalesce(sum(length(${sql.ref(`${table}.body`)})), 0)`.as('bytes'))
      .as(`${table}_bytes` as const),
  ] as const;
}
