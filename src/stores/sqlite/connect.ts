import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { RoundfoldError } from '../../conversation/errors.ts';
import { canWrite, prepareFile } from './files.ts';

/** "rfld": marks a file as ours. */
export const APPLICATION_ID = 0x72666c64;

/** How long SQLite itself waits for a lock. Short, because nothing else runs meanwhile. */
export const BUSY_TIMEOUT_MS = 10;

const settings = [
  // A record of 10 kB takes two pages then, instead of three. It counts for a new file, before anything else is set.
  'pragma page_size = 8192',
  'pragma journal_mode = wal',
  'pragma synchronous = full',
  // In pages, 2 MB: writing to a log that is short again and again takes less time than to one that grows.
  'pragma wal_autocheckpoint = 256',
  // In kibibytes: room for the indexes of a large store while records go through.
  'pragma cache_size = -16384',
  // What is deleted is overwritten.
  'pragma secure_delete = on',
];

type SqliteModule = typeof import('node:sqlite');

/** Opens the file, and makes it if there is none. One that cannot be written is opened for reading. */
export function connect({ DatabaseSync }: SqliteModule, path: string): DatabaseSync {
  prepareFile(path);
  if (!canWrite(path)) return connectForReading({ DatabaseSync }, path);
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(connection, path);
    for (const setting of settings) connection.exec(setting);
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

function connectForReading({ DatabaseSync }: Pick<SqliteModule, 'DatabaseSync'>, path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    refuseForeign(connection, path);
    return connection;
  } catch (error) {
    connection.close();
    // SQLite wants to make its files beside the database. Where nobody writes, it can do without.
    if (RoundfoldError.is(error) || existsSync(`${path}-wal`)) throw error;
    const address = pathToFileURL(path);
    address.searchParams.set('immutable', '1');
    return new DatabaseSync(address, { readOnly: true });
  }
}

/** A mistyped path must not put our tables into somebody else's database. */
function refuseForeign(connection: DatabaseSync, path: string): void {
  const application = connection.prepare('pragma application_id').get()?.['application_id'];
  if (application === APPLICATION_ID) return;
  const tables = connection.prepare('select count(*) as tables from sqlite_schema').get()?.['tables'];
  if (tables === 0) return;
  throw new RoundfoldError('store', `the database at ${path} belongs to another program`, {
    place: { source: path },
    remedy: 'Give the path of a store, or of a file that does not exist yet.',
  });
}
