import { RoundfoldError } from '../conversation/errors.ts';
import type { StoreOptions } from './options.ts';
import type { PostgresPool } from './postgres/connection.ts';
import { postgresDialect } from './postgres/dialect.ts';
import { areTablesLost, explainPostgresError } from './postgres/errors.ts';
import { createPool } from './postgres/pool.ts';
import { PostgresDatabase } from './postgres/postgres-database.ts';
import { SqlStore } from './sql/sql-store.ts';
import type { Store } from './store.ts';

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

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
  const dialect = postgresDialect(schema, now === undefined);
  const opener = {
    open: async () =>
      new PostgresDatabase({
        pool: pool ?? (await createPool(connectionString ?? '')),
        ownsPool: pool === undefined,
        dialect,
        schema,
        now: now ?? Date.now,
      }),
    explain: (error: unknown) => explainPostgresError(error, address),
    isLost: areTablesLost,
  };
  return new SqlStore('postgres', opener, options);
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
