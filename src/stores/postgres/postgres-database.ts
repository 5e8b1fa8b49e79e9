import type { Database } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { allRows, firstRow, type Operation, perform, type Step } from '../sql/operation.ts';
import { bind, rawStatement } from '../sql/prepared.ts';
import type { PostgresClient, PostgresPool } from './connection.ts';
import { isConflict } from './errors.ts';

/** A number of our own among those that programs lock. */
const MIGRATION_LOCK = 0x72666c64;
const MAXIMUM_ATTEMPTS = 5;

export interface PostgresDatabaseOptions {
  readonly pool: PostgresPool;
  /** Whether the pool is ended with the store. */
  readonly ownsPool: boolean;
  readonly dialect: Dialect;
  readonly schema: string;
  readonly now: () => number;
}

/** A schema of a database on a server. Connections are made when they are needed, so that one that broke is replaced. */
export class PostgresDatabase implements Database {
  readonly dialect: Dialect;
  readonly #options: PostgresDatabaseOptions;

  constructor(options: PostgresDatabaseOptions) {
    this.dialect = options.dialect;
    this.#options = options;
  }

  isCurrent(): boolean {
    return true;
  }

  glance(): undefined {
    // Its rows come later.
  }

  read<Result>(begin: () => Operation<Result>): Promise<Result> {
    return perform(begin(), (step) => this.#run(this.#options.pool, step));
  }

  async write<Result>(begin: () => Operation<Result>, committed?: (result: Result) => void): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#transaction(begin());
        committed?.(result);
        return result;
      } catch (error) {
        if (!isConflict(error) || attempt === MAXIMUM_ATTEMPTS) throw error;
      }
    }
  }

  *generation(): Operation<undefined> {
    // It would be another round trip.
  }

  *version(): Operation<number> {
    const table = `${this.#options.schema}.schema_version`;
    const found = yield* firstRow(
      rawStatement<{ readonly name: string | null }>(`select to_regclass('${table}') as name`),
    );
    if (found === undefined || found.name === null) return 0;
    const row = yield* firstRow(
      rawStatement<{ readonly version: number | null }>(`select max(version) as version from ${table}`),
    );
    return row?.version ?? 0;
  }

  *beginMigration(): Operation<void> {
    const { schema } = this.#options;
    yield* allRows(rawStatement(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`));
    const found = yield* firstRow(
      rawStatement<{ readonly oid: number }>(`select oid from pg_namespace where nspname = '${schema}'`),
    );
    // Asked for even where there is one, it would need the right to make schemas.
    if (found === undefined) yield* allRows(rawStatement(`create schema ${schema}`));
    yield* allRows(
      rawStatement(`create table if not exists ${schema}.schema_version (version integer primary key)`),
    );
  }

  *endMigration(version: number): Operation<void> {
    yield* allRows(rawStatement(`insert into ${this.#options.schema}.schema_version values (${version})`));
  }

  async purge(): Promise<void> {
    // The server's own vacuum removes dead rows.
  }

  async check(): Promise<void> {
    // The server checks its pages itself.
  }

  async close(): Promise<void> {
    if (this.#options.ownsPool) await this.#options.pool.end();
  }

  async #transaction<Result>(operation: Operation<Result>): Promise<Result> {
    const client = await this.#options.pool.connect();
    let isBroken = false;
    const markBroken = () => {
      isBroken = true;
    };
    // A connection may break between two statements; without a listener that would end the process.
    client.on('error', markBroken);
    try {
      await client.query('begin');
      const result = await perform(operation, (step) => this.#run(client, step));
      const { command } = await client.query('commit');
      // That is how the server says that an earlier statement had failed.
      if (command !== 'COMMIT') throw new Error('the transaction was taken back');
      return result;
    } catch (error) {
      if (!(await rollback(client))) markBroken();
      throw error;
    } finally {
      client.off('error', markBroken);
      client.release(isBroken);
    }
  }

  async #run(
    target: Pick<PostgresClient, 'query'>,
    { statement, values }: Step,
  ): Promise<readonly unknown[]> {
    const { rows } = await target.query(statement.sql, bind(statement, values, this.#options.now));
    return rows;
  }
}

/** Whether the connection can still be used. */
async function rollback(client: PostgresClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}
