import { RoundfoldError } from '../conversation/errors.ts';
import { explainError, isConflict, isLost } from './errors.ts';
import { hasTables, statementsOf, TABLES_VERSION, tablesOf } from './schema.ts';
import type { Session, SqlBackend, SqlDatabase } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import type { Store, StoreOptions } from './store.ts';

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
/** A number of our own among those that programs lock. */
const MIGRATION_LOCK = 0x72666c64;
const MAXIMUM_ATTEMPTS = 5;
const CONNECT_TIMEOUT_MS = 5000;
const QUERY_TIMEOUT_MS = 30_000;

/** A connection, as `pg` has it. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  /** With `true` the connection is ended instead of used again. */
  release(isBroken?: boolean): void;
}

export interface PostgresResult {
  readonly command: string;
  readonly rows: readonly unknown[];
}

/** Connections, as `Pool` of `pg` has them. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  end(): Promise<void>;
}

export interface PostgresStoreOptions extends StoreOptions {
  /** `postgres://user:password@host:port/database` */
  readonly connectionString?: string | undefined;
  /** A `Pool` of `pg`, instead of an address. It stays open when the store is closed. */
  readonly pool?: PostgresPool | undefined;
  /** The tables' namespace, made if it does not exist. Default `roundfold`. */
  readonly schema?: string | undefined;
  /** Default: the server's clock, so that several machines agree on leases. */
  readonly now?: (() => number) | undefined;
}

/**
 * A store in PostgreSQL, for several machines. Needs the package `pg`. Connects with the first call.
 * @throws `usage` when the options do not name a server
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { connectionString, pool, schema = 'roundfold', now } = options;
  if (!SCHEMA.test(schema)) throw usage('the schema of a store has small letters, digits and underscores');
  if ((connectionString === undefined) === (pool === undefined)) {
    throw usage('a store in PostgreSQL takes either an address or a pool');
  }
  const address = connectionString === undefined ? 'PostgreSQL' : addressWithoutSecrets(connectionString);
  const backend: SqlBackend = {
    name: 'postgres',
    statements: statementsOf({
      schema,
      lock: 'for update',
      // The words are made by us: PostgreSQL's own parser takes a path for one word.
      words: {
        added: 'array_to_tsvector(cast($2 as text[]))',
        matches: 'w.words @@ cast($2 as tsquery)',
      },
    }),
    wordsValue: (_scope, words) => [...words],
    // Quoted, no word is an operator.
    wordsQuery: (_scope, words) => [...words].map((word) => `'${word}'`).join(' & '),
    async open() {
      const database = new PostgresDatabase(pool ?? (await createPool(connectionString ?? '')), {
        ownsPool: pool === undefined,
        now,
      });
      try {
        await makeTables(database, schema);
        return database;
      } catch (error) {
        await database.close();
        throw error;
      }
    },
    explain: (error) => explainError(error, address),
    isLost,
  };
  return new SqlStore(backend, options);
}

/** @throws `usage`, without the address: it may hold a password */
function addressWithoutSecrets(connectionString: string): string {
  const url = URL.parse(connectionString);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw usage('the address of a store in PostgreSQL begins with postgres:// and is a valid URL');
  }
  return `postgres://${url.host}${url.pathname}`;
}

function usage(message: string): RoundfoldError {
  return new RoundfoldError('usage', message, {
    remedy: 'Give an address such as postgres://user@host:5432/database.',
  });
}

/** `pg`, as far as it is used here. Told by its shape, so that whoever does not use it needs none of its types. */
interface PgModule {
  readonly default: { readonly Pool: new (options: object) => PgPool };
}

interface PgPool extends PostgresPool {
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: ErrorSource) => void): unknown;
}

interface ErrorSource {
  on(event: 'error', listener: () => void): unknown;
}

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
  // A connection that breaks is replaced, and its query fails; without listeners it would end the process, also between queries.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
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

/** Makes the tables, once, whoever comes first. */
async function makeTables(database: PostgresDatabase, schema: string): Promise<void> {
  if (await database.read(async (session) => hasTables(await versionOf(session, schema)))) return;
  await database.write(async (session) => {
    const { query } = session;
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    // Somebody else may have been faster.
    if (hasTables(await versionOf(session, schema))) return;
    const schemas = await query('select 1 from pg_namespace where nspname = $1', [schema]);
    // Asked for even where there is one, it would need the right to make schemas.
    if (schemas.length === 0) await query(`create schema ${schema}`);
    await query(`create table ${schema}.schema_version (version integer primary key);
      insert into ${schema}.schema_version values (${TABLES_VERSION});
      ${tablesOf({ schema, id: 'bigint generated always as identity primary key', bytes: 'bytea' })}
      create index wishes_index on ${schema}.conversations (tenant) where wishes <> '';
      create table ${schema}.span_words (rowid bigint primary key, words tsvector not null);
      create index span_words_index on ${schema}.span_words using gin (words);`);
  });
}

async function versionOf({ query }: Session, schema: string): Promise<number> {
  const tables = await query(
    "select 1 from pg_tables where schemaname = $1 and tablename = 'schema_version'",
    [schema],
  );
  if (tables.length === 0) return 0;
  const [row] = await query<{ readonly version: number | null }>(
    `select max(version) as version from ${schema}.schema_version`,
  );
  return row?.version ?? 0;
}

/** A database on a server. Connections are made when they are needed, so that one that broke is replaced. */
class PostgresDatabase implements SqlDatabase {
  readonly #pool: PostgresPool;
  readonly #ownsPool: boolean;
  readonly #now: (() => number) | undefined;

  constructor(
    pool: PostgresPool,
    { ownsPool, now }: { readonly ownsPool: boolean; readonly now: (() => number) | undefined },
  ) {
    this.#pool = pool;
    this.#ownsPool = ownsPool;
    this.#now = now;
  }

  isCurrent(): boolean {
    return true;
  }

  read<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return work(this.#sessionOf(this.#pool));
  }

  async write<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transaction(work);
      } catch (error) {
        if (!isConflict(error) || attempt === MAXIMUM_ATTEMPTS) throw error;
      }
    }
  }

  async purge(): Promise<void> {
    // The server's own vacuum removes dead rows.
  }

  async check(): Promise<void> {
    // The server checks its pages itself.
  }

  async close(): Promise<void> {
    if (this.#ownsPool) await this.#pool.end();
  }

  #sessionOf(connection: Pick<PostgresClient, 'query'>): Session {
    const query = async <Row>(text: string, values: readonly unknown[] = []) => {
      const { rows } = await connection.query(text, [...values]);
      return rows as readonly Row[]; // the caller knows the statement
    };
    const now = async () => {
      if (this.#now !== undefined) return Math.floor(this.#now());
      const [row] = await query<{ readonly now: string }>(
        'select floor(extract(epoch from clock_timestamp()) * 1000) as now',
      );
      return Number(row?.now);
    };
    return { query, now };
  }

  async #transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let isBroken = false;
    const markBroken = () => {
      isBroken = true;
    };
    // A connection may break between two statements; without a listener that would end the process.
    client.on('error', markBroken);
    try {
      await client.query('begin');
      const result = await work(this.#sessionOf(client));
      const { command } = await client.query('commit');
      // That is how the server says that an earlier statement had failed.
      if (command !== 'COMMIT') throw new Error('the transaction was taken back');
      return result;
    } catch (error) {
      // A connection that cannot even take back is of no further use.
      await client.query('rollback').catch(markBroken);
      throw error;
    } finally {
      client.off('error', markBroken);
      client.release(isBroken);
    }
  }
}
