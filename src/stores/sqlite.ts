import { setTimeout as delay } from 'node:timers/promises';
import { defaultStorePath } from './default-path.ts';
import type { StoreOptions } from './options.ts';
import { SqlStore } from './sql/sql-store.ts';
import { connect } from './sqlite/connect.ts';
import { explainSqliteError, isBusy, isConnectionLost } from './sqlite/errors.ts';
import { SqliteDatabase, type SqliteDatabaseOptions } from './sqlite/sqlite-database.ts';
import type { Store } from './store.ts';

const WAIT_MS = 5000;
const OPENING_PAUSE_MS = 20;

export interface SqliteStoreOptions extends StoreOptions {
  /** Default: `defaultStorePath()`. Folder and file are made for their owner alone. */
  readonly path?: string | undefined;
  /** How long to wait while another process writes. Default 5000. */
  readonly waitMilliseconds?: number | undefined;
}

/**
 * A store in one file, for the processes of one machine. What `commit` has acknowledged survives a crash and a loss of
 * power. Opened with the first call.
 */
export function sqliteStore(options: SqliteStoreOptions = {}): Store {
  const database: SqliteDatabaseOptions = {
    path: options.path ?? defaultStorePath(),
    now: options.now ?? Date.now,
    waitMilliseconds: options.waitMilliseconds ?? WAIT_MS,
  };
  const opener = {
    open: () => open(database),
    explain: (error: unknown) => explainSqliteError(error, database.path),
    isLost: isConnectionLost,
  };
  return new SqlStore('sqlite', opener, options);
}

async function open(options: SqliteDatabaseOptions): Promise<SqliteDatabase> {
  const sqlite = await import('node:sqlite');
  for (let waited = 0; ; waited += OPENING_PAUSE_MS) {
    try {
      return new SqliteDatabase(connect(sqlite, options.path), options);
    } catch (error) {
      // Whoever opens a new file first has it alone for a moment.
      if (!isBusy(error) || waited >= options.waitMilliseconds) throw error;
    }
    await delay(OPENING_PAUSE_MS);
  }
}
