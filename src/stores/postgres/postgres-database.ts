import type { Database, Session } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { bind, type Prepared, rawStatement, type SlotValues } from '../sql/prepared.ts';
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

  read<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return work(this.#sessionOf(this.#options.pool));
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

  async version(session: Session): Promise<number> {
    const table = `${this.#options.schema}.schema_version`;
    const [found] = await session.run(
      rawStatement<{ readonly name: string | null }>(`select to_regclass('${table}') as name`),
    );
    if (found === undefined || found.name === null) return 0;
    const [row] = await session.run(
      rawStatement<{ readonly version: number | null }>(`select max(version) as version from ${table}`),
    );
    return row?.version ?? 0;
  }

  async beginMigration(session: Session): Promise<void> {
    const { schema } = this.#options;
    await session.run(rawStatement(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`));
    const [found] = await session.run(
      rawStatement<{ readonly oid: number }>(`select oid from pg_namespace where nspname = '${schema}'`),
    );
    // Asked for even where there is one, it would need the right to make schemas.
    if (found === undefined) await session.run(rawStatement(`create schema ${schema}`));
    await session.run(
      rawStatement(`create table if not exists ${schema}.schema_version (version integer primary key)`),
    );
  }

  async endMigration(session: Session, version: number): Promise<void> {
    await session.run(rawStatement(`insert into ${this.#options.schema}.schema_version values (${version})`));
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

  async #transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const client = await this.#options.pool.connect();
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
      if (!(await rollback(client))) markBroken();
      throw error;
    } finally {
      client.off('error', markBroken);
      client.release(isBroken);
    }
  }

  #sessionOf(target: Pick<PostgresClient, 'query'>): Session {
    const run = async <Row>(statement: Prepared<Row>, values: SlotValues = {}) => {
      const parameters = bind(statement, values, this.#options.now);
      const { rows } = await target.query(statement.sql, parameters);
      return rows as readonly Row[]; // the shape that the statement was compiled for
    };
    return { run, first: async (statement, values) => (await run(statement, values))[0] };
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
