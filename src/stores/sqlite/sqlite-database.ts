import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../sql/database.ts';
import { allRows, firstRow, type Operation, performAtOnce, type Step } from '../sql/operation.ts';
import { bind, type Prepared, rawStatement } from '../sql/prepared.ts';
import { APPLICATION_ID, BUSY_TIMEOUT_MS } from './connect.ts';
import { sqliteDialect } from './dialect.ts';
import { damagedDatabase, isBusy } from './errors.ts';
import { canWrite, fileIdentity } from './files.ts';

const FIRST_DELAY_MS = 2;
const LONGEST_DELAY_MS = 50;

const dataVersion = rawStatement<{ readonly data_version: number }>('pragma data_version');

export interface SqliteDatabaseOptions {
  readonly path: string;
  readonly now: () => number;
  readonly waitMilliseconds: number;
}

/** One connection to a file. Operations run at once, from their beginning to their end. */
export class SqliteDatabase implements Database {
  readonly dialect = sqliteDialect;
  readonly #connection: DatabaseSync;
  readonly #options: SqliteDatabaseOptions;
  readonly #identity: string | undefined;
  readonly #isReadOnly: boolean;
  readonly #statements = new Map<string, PreparedStatement>();

  constructor(connection: DatabaseSync, options: SqliteDatabaseOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#identity = fileIdentity(options.path);
    this.#isReadOnly = !canWrite(options.path);
  }

  /** A file that was removed or replaced would swallow every write, and one may be writable again. */
  isCurrent(use: 'read' | 'write'): boolean {
    const { path } = this.#options;
    // Records never change, so what can still be read is right; and looking takes as long as reading.
    if (use === 'read' && !this.#isReadOnly) return true;
    return fileIdentity(path) === this.#identity && !(this.#isReadOnly && canWrite(path));
  }

  glance({ sql }: Prepared, ...parameters: readonly string[]): readonly unknown[] | undefined {
    try {
      const row: unknown = this.#prepared(sql).statement.get(...parameters);
      return row as readonly unknown[] | undefined; // because of `setReturnArrays`
    } catch {
      return undefined;
    }
  }

  read<Result>(begin: () => Operation<Result>): Result | Promise<Result> {
    return this.#whenFree(() => performAtOnce(begin(), this.#run));
  }

  write<Result>(
    begin: () => Operation<Result>,
    committed?: (result: Result) => void,
  ): Result | Promise<Result> {
    return this.#whenFree(() => {
      const result = this.#transaction(begin);
      committed?.(result);
      return result;
    });
  }

  *generation(): Operation<number | undefined> {
    const row = yield* firstRow(dataVersion);
    return row?.data_version;
  }

  *version(): Operation<number> {
    const row = yield* firstRow(rawStatement<{ readonly user_version: number }>('pragma user_version'));
    return row?.user_version ?? 0;
  }

  *beginMigration(): Operation<void> {
    // The transaction is alone.
  }

  *endMigration(version: number): Operation<void> {
    yield* allRows(rawStatement(`pragma application_id = ${APPLICATION_ID}`));
    yield* allRows(rawStatement(`pragma user_version = ${version}`));
  }

  async purge(): Promise<void> {
    // The index keeps the words of what was deleted until its parts are merged, and the log keeps old pages.
    await this.write(() => allRows(rawStatement("insert into span_words (span_words) values ('optimize')")));
    await this.read(() => allRows(rawStatement('pragma wal_checkpoint(truncate)')));
  }

  async check(): Promise<void> {
    const row = await this.read(() =>
      firstRow(rawStatement<{ readonly quick_check: string }>('pragma quick_check(1)')),
    );
    if (row?.quick_check !== 'ok') throw damagedDatabase();
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  #transaction<Result>(begin: () => Operation<Result>): Result {
    // From the start: a transaction that begins with reading cannot go on to writing when others wrote meanwhile.
    this.#prepared('begin immediate').statement.run();
    try {
      const result = performAtOnce(begin(), this.#run);
      this.#prepared('commit').statement.run();
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      throw error;
    }
  }

  readonly #run = ({ statement: text, values, wanted }: Step): readonly unknown[] => {
    const { statement, columns } = this.#prepared(text.sql);
    const parameters = bind(text, values, this.#options.now) as SQLInputValue[]; // texts, numbers and bytes
    if (wanted === 'all') return statement.all(...parameters).map((row) => rowOf(columns, row));
    if (wanted === 'added') {
      const { changes, lastInsertRowid } = statement.run(...parameters);
      return changes === 0 ? [] : [{ id: lastInsertRowid }];
    }
    const row = statement.get(...parameters);
    return row === undefined ? [] : [rowOf(columns, row)];
  };

  #prepared(text: string): PreparedStatement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(text);
    statement.setReturnArrays(true);
    const prepared = { statement, columns: statement.columns().map(({ name }) => name) };
    this.#statements.set(text, prepared);
    return prepared;
  }

  /** At once, unless another process writes. */
  #whenFree<Result>(attempt: () => Result): Result | Promise<Result> {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      return this.#tryAgain(attempt, error);
    }
  }

  async #tryAgain<Result>(attempt: () => Result, firstError: unknown): Promise<Result> {
    let lastError = firstError;
    let waited = 0;
    for (let pause = FIRST_DELAY_MS; waited < this.#options.waitMilliseconds; pause = nextDelay(pause)) {
      // Not all at the same time again.
      const wait = pause * (0.5 + Math.random());
      await delay(wait);
      waited += wait + BUSY_TIMEOUT_MS;
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error)) throw error;
        lastError = error;
      }
    }
    throw lastError;
  }
}

function nextDelay(pause: number): number {
  return Math.min(2 * pause, LONGEST_DELAY_MS);
}

/** Its rows come as lists: Node takes longer to make objects of them. */
interface PreparedStatement {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
}

/** The row with its names, in the shape that its statement was compiled for. */
function rowOf(columns: readonly string[], list: unknown): Readonly<Record<string, unknown>> {
  const values = list as readonly SQLOutputValue[]; // because of `setReturnArrays`
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = values[index];
  return row;
}
