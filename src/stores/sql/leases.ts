import type { Lease, LeaseRequest } from '../../core/store.ts';
import { leaseDuration } from '../lease-time.ts';
import { nameInColumn } from '../record/name.ts';
import type { Database } from './database.ts';
import type { Statements } from './statements.ts';
import type { Work } from './work.ts';

/** Whether a lease is the newest of its key, and has not run out. Nobody takes it until the transaction ends. */
export async function holdsLease({ session, statements }: Work, lease: Lease): Promise<boolean> {
  const [row] = await session.run(statements.lockedLease, namesOf(lease));
  return row !== undefined && row.held === 1 && Number(row.fence) === lease.fence;
}

export async function acquireLease(
  database: Database,
  statements: Statements,
  { tenant, key, owner, milliseconds }: LeaseRequest,
): Promise<Lease | undefined> {
  const duration = leaseDuration(milliseconds);
  const names = { ...namesOf({ tenant, key }), owner: nameInColumn(owner) };
  // Most who come too late learn it without writing anything.
  const [current] = await database.read((session) => session.run(statements.lease, names));
  if (current?.held === 1 && current.owner !== names.owner) return undefined;
  const row = await database.write(async (session) => {
    await advanceFence(database, statements, session);
    const [taken] = await session.run(statements.acquire, { ...names, milliseconds: duration });
    return taken;
  });
  if (row === undefined) return undefined;
  return { tenant, key, owner, fence: Number(row.fence), expiresAt: Number(row.expires_at) };
}

/** PostgreSQL draws the next fence from a sequence, in the statement that needs it. */
export async function advanceFence(
  { dialect }: Pick<Database, 'dialect'>,
  statements: Statements,
  session: Work['session'],
): Promise<void> {
  if (dialect.name === 'sqlite') await session.run(statements.advanceFence);
}

export async function renewLease(
  { session, statements }: Pick<Work, 'session' | 'statements'>,
  lease: Lease,
  milliseconds: number,
): Promise<Lease | undefined> {
  const values = { ...namesOf(lease), fence: lease.fence, milliseconds: leaseDuration(milliseconds) };
  const [row] = await session.run(statements.renew, values);
  return row === undefined ? undefined : { ...lease, expiresAt: Number(row.expires_at) };
}

export async function releaseLease(
  { session, statements }: Pick<Work, 'session' | 'statements'>,
  lease: Lease,
): Promise<void> {
  await session.run(statements.release, { ...namesOf(lease), fence: lease.fence });
}

function namesOf({ tenant, key }: Pick<Lease, 'tenant' | 'key'>): { tenant: string; key: string } {
  return { tenant: nameInColumn(tenant), key: nameInColumn(key) };
}
