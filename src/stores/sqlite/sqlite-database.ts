import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Session } from '../sql/database.ts';
import { bind, type Prepared, rawStatement, type SlotValues } from '../sql/prepared.ts';
import { APPLICATION_ID, BUSY_TIMEOUT_MS } from './connect.ts';
import { sqliteDialect } from './dialect.ts';
import { damagedDatabase, isBusy } from './errors.ts';
import { canWrite, fileIdentity } from './files.ts';

const FIRST_DELAY_MS = 2;
const LONGEST_DELAY_MS = 50;

export interface SqliteDatabaseOptions {
  readonly path: string;
  readonly now: () => number;
  readonly waitMilliseconds: number;
}

/** One connection to a file. Statements run at once; whoever uses it in several steps has it alone meanwhile. */
export class SqliteDatabase implements Database {
  readonly dialect = sqliteDialect;
  readonly #connection: DatabaseSync;
  readonly #options: SqliteDatabaseOptions;
  readonly #identity: string | undefined;
  readonly #isReadOnly: boolean;
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #session: Session;
  #isTaken = false;
  /** Those who wait for their turn, in the order in which they came. */
  readonly #waiting: (() => void)[] = [];

  constructor(connection: DatabaseSync, options: SqliteDatabaseOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#identity = fileIdentity(options.path);
    this.#isReadOnly = !canWrite(options.path);
    this.#session = {
      run: async (statement, values) => this.#run(statement, values),
      first: async (statement, values) => this.#first(statement, values),
    };
  }

  /** A file that was removed or replaced would swallow every write, and one may be writable again. */
  isCurrent(use: 'read' | 'write'): boolean {
    const { path } = this.#options;
    // Records never change, so what can still be read is right; and looking takes as long as reading.
    if (use === 'read' && !this.#isReadOnly) return true;
    return fileIdentity(path) === this.#identity && !(this.#isReadOnly && canWrite(path));
  }

  read<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#whenFree(() => work(this.#session));
  }

  write<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#whenFree(async () => {
      // From the start: a transaction that begins with reading cannot go on to writing when others wrote meanwhile.
      this.#prepared('begin immediate').statement.run();
      try {
        const result = await work(this.#session);
        this.#prepared('commit').statement.run();
        return result;
      } catch (error) {
        if (this.#connection.isTransaction) this.#connection.exec('rollback');
        throw error;
      }
    });
  }

  async version(session: Session): Promise<number> {
    const [row] = await session.run<{ readonly user_version: number }>(rawStatement('pragma user_version'));
    return row?.user_version ?? 0;
  }

  async beginMigration(): Promise<void> {
    // The transaction is alone.
  }

  async endMigration(session: Session, version: number): Promise<void> {
    await session.run(rawStatement(`pragma application_id = ${APPLICATION_ID}`));
    await session.run(rawStatement(`pragma user_version = ${version}`));
  }

  async purge(): Promise<void> {
    // The index keeps the words of what was deleted until its parts are merged, and the log keeps old pages.
    await this.write((session) =>
      session.run(rawStatement("insert into span_words (span_words) values ('optimize')")),
    );
    await this.read((session) => session.run(rawStatement('pragma wal_checkpoint(truncate)')));
  }

  async check(): Promise<void> {
    const [row] = await this.read((session) =>
      session.run<{ readonly quick_check: string }>(rawStatement('pragma quick_check(1)')),
    );
    if (row?.quick_check !== 'ok') throw damagedDatabase();
  }

  async close(): Promise<void> {
    await this.#whenFree(async () => this.#connection.close());
  }

  #run<Row>(prepared: Prepared<Row>, values: SlotValues = {}): readonly Row[] {
    const { statement, columns } = this.#prepared(prepared.sql);
    const rows = statement.all(...this.#parameters(prepared, values));
    return rows.map((row) => rowOf<Row>(columns, row));
  }

  #first<Row>(prepared: Prepared<Row>, values: SlotValues = {}): Row | undefined {
    const { statement, columns } = this.#prepared(prepared.sql);
    const row = statement.get(...this.#parameters(prepared, values));
    return row === undefined ? undefined : rowOf<Row>(columns, row);
  }

  #parameters(prepared: Prepared, values: SlotValues): SQLInputValue[] {
    return bind(prepared, values, this.#options.now) as SQLInputValue[]; // texts, numbers and bytes
  }

  #prepared(text: string): PreparedStatement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(text);
    statement.setReturnArrays(true);
    const prepared = { statement, columns: statement.columns().map(({ name }) => name) };
    this.#statements.set(text, prepared);
    return prepared;
  }

  /** Waits outside of the queue while another process writes, so that reading goes on here. */
  async #whenFree<Result>(work: () => Promise<Result>): Promise<Result> {
    let waited = 0;
    for (let pause = FIRST_DELAY_MS; ; pause = Math.min(2 * pause, LONGEST_DELAY_MS)) {
      if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      this.#isTaken = true;
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || waited >= this.#options.waitMilliseconds) throw error;
      } finally {
        this.#handOn();
      }
      // Not all at the same time again.
      const wait = pause * (0.5 + Math.random());
      await delay(wait);
      waited += wait + BUSY_TIMEOUT_MS;
    }
  }

  /** To the next as it is, taken, so that nobody comes in between. */
  #handOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}

/** Its rows come as lists: Node takes longer to make objects of them. */
interface PreparedStatement {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
}

/** The row with its names, in the shape that its statement was compiled for. */
function rowOf<Row>(columns: readonly string[], list: unknown): Row {
  const values = list as readonly SQLOutputValue[]; // because of `setReturnArrays`
  const row: Record<string, SQLOutputValue | undefined> = {};
  for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = values[index];
  return row as Row;
}
