import { RoundfoldError } from '../../conversation/errors.ts';
import type { PostgresPool } from './connection.ts';

const CONNECT_TIMEOUT_MS = 5000;
const QUERY_TIMEOUT_MS = 30_000;

/** `pg`, as far as it is used here. */
type PgModule = Pick<typeof import('pg'), 'default'>;

/**
 * Connections of our own.
 * @throws `missing-dependency` when `pg` is not installed
 */
export async function createPool(
  connectionString: string,
  importPg: () => Promise<PgModule> = () => import('pg'),
): Promise<PostgresPool> {
  const { Pool } = (await importOrExplain(importPg)).default;
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A server that is gone without a word must not hold a caller for ever.
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    // Waiting connections do not keep a process alive that has nothing else to do.
    allowExitOnIdle: true,
  });
  // A waiting connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}

async function importOrExplain(importPg: () => Promise<PgModule>): Promise<PgModule> {
  try {
    return await importPg();
  } catch (error) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('missing-dependency', 'a store in PostgreSQL needs the package pg', {
      cause: error,
      remedy: 'Run `npm install pg`, or use a store in a file.',
    });
  }
}
