import { leaseDuration } from '../lease-time.ts';
import { nameInColumn } from '../record/name.ts';
import type { Lease, LeaseRequest } from '../store.ts';
import type { Database } from './database.ts';
import { allRows, firstRow, type Operation } from './operation.ts';
import type { Work } from './work.ts';

/** Whether a lease is the newest of its key, and has not run out. Nobody takes it until the transaction ends. */
export function* holdsLease({ statements }: Work, lease: Lease): Operation<boolean> {
  const row = yield* firstRow(statements.lockedLease, namesOf(lease));
  return row !== undefined && row.held === 1 && Number(row.fence) === lease.fence;
}

export async function acquireLease(
  database: Database,
  work: Work,
  { tenant, key, owner, milliseconds }: LeaseRequest,
): Promise<Lease | undefined> {
  const duration = leaseDuration(milliseconds);
  const names = { ...namesOf({ tenant, key }), owner: nameInColumn(owner) };
  // Most who come too late learn it without writing anything.
  const current = await database.read(() => firstRow(work.statements.lease, names));
  if (current?.held === 1 && current.owner !== names.owner) return undefined;
  const row = await database.write(function* () {
    yield* advanceFence(work);
    const [taken] = yield* allRows(work.statements.acquire, { ...names, milliseconds: duration });
    return taken;
  });
  if (row === undefined) return undefined;
  return { tenant, key, owner, fence: Number(row.fence), expiresAt: Number(row.expires_at) };
}

/** PostgreSQL draws the next fence from a sequence, in the statement that needs it. */
export function* advanceFence({ dialect, statements }: Work): Operation<void> {
  if (dialect.name === 'sqlite') yield* allRows(statements.advanceFence);
}

export function* renewLease(
  { statements }: Work,
  lease: Lease,
  milliseconds: number,
): Operation<Lease | undefined> {
  const values = { ...namesOf(lease), fence: lease.fence, milliseconds: leaseDuration(milliseconds) };
  const [row] = yield* allRows(statements.renew, values);
  return row === undefined ? undefined : { ...lease, expiresAt: Number(row.expires_at) };
}

export function* releaseLease({ statements }: Work, lease: Lease): Operation<void> {
  yield* allRows(statements.release, { ...namesOf(lease), fence: lease.fence });
}

function namesOf({ tenant, key }: Pick<Lease, 'tenant' | 'key'>): { tenant: string; key: string } {
  return { tenant: nameInColumn(tenant), key: nameInColumn(key) };
}
