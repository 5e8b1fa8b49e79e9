import { type Kysely, sql } from 'kysely';
import { numberSlot, prepare, slot } from './compile.ts';
import type { Dialect, DialectFragments } from './dialect.ts';
import { rawStatement } from './prepared.ts';
import type { Tables } from './tables.ts';

/** Statements about leases. */
export function leaseStatements(
  builder: Kysely<Tables>,
  { clock, nextFence }: DialectFragments,
  { locksRows, schema }: Dialect,
) {
  /** The same rule as `isHeld`. */
  const isHeld = sql<boolean>`(${clock} < ${sql.ref('leases.expires_at')}
    and ${clock} >= 2 * ${sql.ref('leases.taken_at')} - ${sql.ref('leases.expires_at')})`;
  const held = sql<number>`case when ${isHeld} then 1 else 0 end`.as('held');
  const expiry = sql<number>`${clock} + ${numberSlot('milliseconds')}`;
  const isOwn = sql<boolean>`${sql.ref('leases.owner')} = ${sql.ref('excluded.owner')}`;

  const lease = builder
    .selectFrom('leases')
    .select(['owner', 'fence', held])
    .where('tenant', '=', slot<string>('tenant'))
    .where('lease_key', '=', slot<string>('key'));

  return {
    lease: prepare(lease),
    /** The lease, which nobody else can take until the transaction ends. */
    lockedLease: prepare(locksRows ? lease.forUpdate() : lease),
    advanceFence: prepare(
      builder.updateTable('counters').set({ fence: sql<number>`fence + 1` }).returning('fence'),
    ),
    acquire: prepare(
      builder
        .insertInto('leases')
        .values({
          tenant: slot<string>('tenant'),
          lease_key: slot<string>('key'),
          owner: slot<string>('owner'),
          fence: nextFence,
          taken_at: clock,
          expires_at: expiry,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['tenant', 'lease_key'])
            // The fence is taken after the row is locked: of two at the same time the later one has the higher.
            .doUpdateSet({
              owner: sql<string>`excluded.owner`,
              fence: nextFence,
              taken_at: clock,
              expires_at: expiry,
            })
            .where(sql<boolean>`(${isOwn} or not ${isHeld})`),
        )
        .returning(['fence', 'expires_at']),
    ),
    renew: prepare(
      builder
        .updateTable('leases')
        .set({ taken_at: clock, expires_at: expiry })
        .where('tenant', '=', slot<string>('tenant'))
        .where('lease_key', '=', slot<string>('key'))
        .where('fence', '=', numberSlot('fence'))
        .where(isHeld)
        .returning('expires_at'),
    ),
    // The row stays: PostgreSQL's acquire needs something to lock.
    release: prepare(
      builder
        .updateTable('leases')
        .set({ taken_at: 0, expires_at: 0 })
        .where('tenant', '=', slot<string>('tenant'))
        .where('lease_key', '=', slot<string>('key'))
        .where('fence', '=', numberSlot('fence'))
        .returning('fence'),
    ),
    /** No lease is taken until the transaction ends: one that is in the making may have drawn its fence already. */
    lockLeases:
      schema === undefined
        ? rawStatement('select 1')
        : rawStatement(`lock table ${schema}.leases in exclusive mode`),
    removeEndedLeases: prepare(
      builder.deleteFrom('leases').where(sql<boolean>`not ${isHeld}`).returning('fence'),
    ),
  };
}
