/** Leases as rows of a database. */
import { nameInColumn } from './records.ts';
import { isHeld } from './rules.ts';
import type { Statements } from './schema.ts';
import { lockRow, type Session } from './sql-database.ts';
import type { BigInteger } from './sql-records.ts';
import type { Lease, LeaseRequest } from './store.ts';

interface LeaseRow {
  readonly owner: string;
  readonly fence: BigInteger;
  readonly taken_at: BigInteger;
  readonly expires_at: BigInteger;
}

/** Reads and writes the rows of leases. */
export class SqlLeases {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Whether somebody else holds it: most who come too late learn it without writing anything. */
  async isTaken({ query, now }: Session, request: LeaseRequest): Promise<boolean> {
    const [row] = await query<LeaseRow>(this.#sql.lease, namesOf(request));
    return row !== undefined && isTakenBy(row, request, await now());
  }

  async take(session: Session, request: LeaseRequest): Promise<Lease | undefined> {
    const { tenant, key, owner, milliseconds } = request;
    const names = namesOf(request);
    const row = await lockRow<LeaseRow>(session, [this.#sql.lockLease, names], [this.#sql.addLease, names]);
    const now = await session.now();
    if (isTakenBy(row, request, now)) return undefined;
    // Drawn after the row is locked: of two at the same time the later one has the higher fence.
    const fence = await this.nextFence(session);
    const expiresAt = now + milliseconds;
    await session.query(this.#sql.takeLease, [...names, nameInColumn(owner), fence, now, expiresAt]);
    return { tenant, key, owner, fence, expiresAt };
  }

  async renew(session: Session, lease: Lease, milliseconds: number): Promise<Lease | undefined> {
    const now = await this.heldAt(session, lease);
    if (now === undefined) return undefined;
    const expiresAt = now + milliseconds;
    await session.query(this.#sql.renewLease, [...namesOf(lease), lease.fence, now, expiresAt]);
    return { ...lease, expiresAt };
  }

  async release({ query }: Session, lease: Lease): Promise<void> {
    await query(this.#sql.renewLease, [...namesOf(lease), lease.fence, 0, 0]);
  }

  /** The time now, if the lease is the newest of its key and holds. Nobody takes it until the transaction ends. */
  async heldAt({ query, now: askNow }: Session, lease: Lease): Promise<number | undefined> {
    const [row] = await query<LeaseRow>(this.#sql.lockLease, namesOf(lease));
    if (row === undefined || Number(row.fence) !== lease.fence) return undefined;
    const now = await askNow();
    return isRowHeld(row, now) ? now : undefined;
  }

  async nextFence({ query }: Session): Promise<number> {
    const [row] = await query<{ readonly last: BigInteger }>(this.#sql.nextFence);
    return Number(row?.last);
  }
}

function isTakenBy(row: LeaseRow, { owner }: LeaseRequest, now: number): boolean {
  return row.owner !== nameInColumn(owner) && isRowHeld(row, now);
}

function isRowHeld({ taken_at, expires_at }: LeaseRow, now: number): boolean {
  return isHeld({ takenAt: Number(taken_at), expiresAt: Number(expires_at) }, now);
}

function namesOf({ tenant, key }: Pick<Lease, 'tenant' | 'key'>): readonly string[] {
  return [nameInColumn(tenant), nameInColumn(key)];
}
