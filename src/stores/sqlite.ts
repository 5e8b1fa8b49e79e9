import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { RoundfoldError } from '../conversation/errors.ts';
import { damagedDatabase, explainError, isBusy, isLost } from './errors.ts';
import { hasTables, statementsOf, TABLES_VERSION, tablesOf } from './schema.ts';
import type { Session, SqlBackend, SqlDatabase } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import { canWrite, defaultStorePath, fileIdentity, prepareFile } from './sqlite-file.ts';
import type { Store, StoreOptions } from './store.ts';

const WAIT_MS = 5000;
/** How long SQLite itself waits for a lock. Short, because nothing else runs meanwhile. */
const BUSY_TIMEOUT_MS = 10;
const FIRST_DELAY_MS = 2;
const LONGEST_DELAY_MS = 50;

/** "rfld": marks a file as ours. */
const APPLICATION_ID = 0x72666c64;

const SETTINGS = `
  pragma page_size = 8192;
  pragma journal_mode = wal;
  -- What was acknowledged survives a loss of power.
  pragma synchronous = full;
  -- In pages: the log is written over from 2 MB on.
  pragma wal_autocheckpoint = 256;
  -- What is deleted is overwritten.
  pragma secure_delete = on;`;

const TABLES = `${tablesOf({ schema: 'main', id: 'integer primary key', bytes: 'blob' })}
  create index main.wishes_index on conversations (tenant) where wishes <> '';
  -- Words come separated by blanks; the underscore is for what we add, and no word has one.
  create virtual table main.span_words using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
  );
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${TABLES_VERSION};`;

const statements = statementsOf({
  schema: 'main',
  lock: '',
  words: { added: '$2', matches: 'w.span_words match $2' },
});

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
  const { path = defaultStorePath(), waitMilliseconds = WAIT_MS, now = Date.now } = options;
  const backend: SqlBackend = {
    name: 'sqlite',
    statements,
    wordsValue: (scope, words) => [`_${scope}`, ...words].join(' '),
    // Quoted, no word is an operator.
    wordsQuery: (scope, words) => [`_${scope}`, ...words].map((word) => `"${word}"`).join(' AND '),
    async open() {
      const sqlite = await import('node:sqlite');
      const file = { path, waitMilliseconds, now };
      return whenFree(waitMilliseconds, async () => new SqliteDatabase(connect(sqlite, path), file));
    },
    explain: (error) => explainError(error, path),
    isLost,
  };
  return new SqlStore(backend, options);
}

/** Tries again as long as another process has the file. */
async function whenFree<Result>(waitMilliseconds: number, attempt: () => Promise<Result>): Promise<Result> {
  let waited = 0;
  for (let pause = FIRST_DELAY_MS; ; pause = Math.min(2 * pause, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || waited >= waitMilliseconds) throw error;
    }
    // Not all at the same time again.
    const wait = pause * (0.5 + Math.random());
    await delay(wait);
    waited += wait + BUSY_TIMEOUT_MS;
  }
}

type SqliteModule = typeof import('node:sqlite');

/** Opens the file, and makes it if there is none. One that cannot be written is opened for reading. */
function connect(sqlite: SqliteModule, path: string): DatabaseSync {
  prepareFile(path);
  if (!canWrite(path)) return connectForReading(sqlite, path);
  const connection = new sqlite.DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(connection, path);
    connection.exec(SETTINGS);
    makeTables(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function connectForReading({ DatabaseSync }: SqliteModule, path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    refuseForeign(connection, path);
    hasTables(versionOf(connection));
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
  // In this order: a process beside us may be making the tables, and whoever sees them must see the mark as well.
  const tables = connection.prepare('select count(*) as tables from sqlite_schema').get()?.['tables'];
  if (tables === 0) return;
  const application = connection.prepare('pragma application_id').get()?.['application_id'];
  if (application === APPLICATION_ID) return;
  throw new RoundfoldError('store', `the database at ${path} belongs to another program`, {
    place: { source: path },
    remedy: 'Give the path of a store, or of a file that does not exist yet.',
  });
}

function versionOf(connection: DatabaseSync): number {
  return Number(connection.prepare('pragma user_version').get()?.['user_version']);
}

function makeTables(connection: DatabaseSync): void {
  if (hasTables(versionOf(connection))) return;
  connection.exec('begin immediate');
  try {
    // Somebody else may have been faster.
    if (!hasTables(versionOf(connection))) connection.exec(TABLES);
    connection.exec('commit');
  } catch (error) {
    if (connection.isTransaction) connection.exec('rollback');
    throw error;
  }
}

interface StoreFile {
  readonly path: string;
  readonly waitMilliseconds: number;
  readonly now: () => number;
}

/** One connection to a file. Stretches of work run one after the other. */
class SqliteDatabase implements SqlDatabase {
  readonly #connection: DatabaseSync;
  readonly #file: StoreFile;
  readonly #identity: string | undefined;
  readonly #isReadOnly: boolean;
  readonly #prepared = new Map<string, StatementSync>();
  readonly #session: Session;
  #lastWork: Promise<unknown> = Promise.resolve();

  constructor(connection: DatabaseSync, file: StoreFile) {
    this.#connection = connection;
    this.#file = file;
    this.#identity = fileIdentity(file.path);
    this.#isReadOnly = !canWrite(file.path);
    this.#session = {
      query: async <Row>(text: string, values: readonly unknown[] = []) =>
        this.#run(text, values) as readonly Row[], // the caller knows the statement
      now: async () => Math.floor(file.now()),
    };
  }

  /** A file that was removed or replaced would swallow every write, and one may be writable again. */
  isCurrent(): boolean {
    const { path } = this.#file;
    return fileIdentity(path) === this.#identity && !(this.#isReadOnly && canWrite(path));
  }

  read<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#alone(() => work(this.#session));
  }

  write<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#alone(async () => {
      // From the start: a transaction that begins with reading cannot go on to writing when others wrote meanwhile.
      this.#run('begin immediate');
      try {
        const result = await work(this.#session);
        this.#run('commit');
        return result;
      } catch (error) {
        if (this.#connection.isTransaction) this.#run('rollback');
        throw error;
      }
    });
  }

  async purge(): Promise<void> {
    // The index keeps the words of what was deleted until its parts are merged, and the log keeps old pages.
    await this.write(({ query }) => query("insert into span_words (span_words) values ('optimize')"));
    await this.read(({ query }) => query('pragma wal_checkpoint(truncate)'));
  }

  async check(): Promise<void> {
    const [row] = await this.read(({ query }) =>
      query<{ readonly quick_check: string }>('pragma quick_check(1)'),
    );
    if (row?.quick_check !== 'ok') throw damagedDatabase();
  }

  async close(): Promise<void> {
    await this.#alone(async () => this.#connection.close());
  }

  #run(text: string, values: readonly unknown[] = []): readonly unknown[] {
    const statement = this.#prepared.get(text) ?? this.#connection.prepare(text);
    this.#prepared.set(text, statement);
    const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
    return statement.all(named as Record<string, SQLInputValue>); // texts, numbers and bytes
  }

  /** Runs work when that before it has ended: all share one connection, and a transaction belongs to one of them. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return whenFree(this.#file.waitMilliseconds, () => {
      const result = this.#lastWork.then(work);
      this.#lastWork = result.catch(() => undefined);
      return result;
    });
  }
}
