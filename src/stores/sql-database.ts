/** What a store needs of a database, and how it is opened when it is needed. */
import { RoundfoldError } from '../conversation/errors.ts';
import type { Statements } from './schema.ts';

/** A stretch of work with a database. */
export interface Session {
  /** Runs a statement and gives its rows, whose shape the caller knows from the statement. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Milliseconds since 1970, by the clock of all who share the database. */
  now(): Promise<number>;
}

/** An open database with the tables of a store. */
export interface SqlDatabase {
  /** Whether it is still the one that its address names. */
  isCurrent(): boolean;
  /** Outside of a transaction. */
  read<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** In a transaction, taken back when the work throws. The work begins again when others were in the way. */
  write<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Makes what was deleted unreadable in the files, as far as the database can. */
  purge(): Promise<void>;
  /** @throws when the database itself is damaged */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A kind of database at an address. */
export interface SqlBackend {
  readonly name: string;
  readonly statements: Statements;
  /** The words of a span as a value for the index, and a search for all of them. `scope` names the conversation. */
  wordsValue(scope: string, words: ReadonlySet<string>): unknown;
  wordsQuery(scope: string, words: ReadonlySet<string>): unknown;
  /** Makes the tables if there are none. */
  open(): Promise<SqlDatabase>;
  /** The error for the caller. Never holds content, passwords or keys. */
  explain(error: unknown): RoundfoldError;
  /** Whether the database must be opened again. */
  isLost(error: unknown): boolean;
}

/** Opens a database with the first use, and again when it was lost or another one is in its place. */
export class LazyDatabase {
  readonly #backend: SqlBackend;
  #opening: Promise<SqlDatabase> | undefined;
  #opened: SqlDatabase | undefined;
  #isClosed = false;

  constructor(backend: SqlBackend) {
    this.#backend = backend;
  }

  /** @throws `store` when the database fails, `usage` when it was closed */
  async use<Result>(run: (database: SqlDatabase) => Promise<Result>): Promise<Result> {
    let database: SqlDatabase | undefined;
    try {
      database = await this.#current();
      return await run(database);
    } catch (error) {
      if (database !== undefined && this.#backend.isLost(error)) await this.#discard(database);
      throw RoundfoldError.is(error) ? error : this.#backend.explain(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.catch(() => undefined);
    if (this.#opened !== undefined) await this.#discard(this.#opened);
  }

  async #current(): Promise<SqlDatabase> {
    for (;;) {
      if (this.#isClosed) throw new RoundfoldError('usage', 'the store was closed');
      this.#opening ??= this.#open();
      const database = await this.#opening;
      if (database.isCurrent()) return database;
      await this.#discard(database);
    }
  }

  async #open(): Promise<SqlDatabase> {
    try {
      this.#opened = await this.#backend.open();
      return this.#opened;
    } catch (error) {
      // The next call tries again: the cause may be gone by then.
      this.#opening = undefined;
      throw error;
    }
  }

  async #discard(database: SqlDatabase): Promise<void> {
    if (this.#opened !== database) return;
    this.#opened = undefined;
    this.#opening = undefined;
    // There is nothing left to do for one that cannot be closed.
    await database.close().catch(() => undefined);
  }
}

/** The row that a statement locks, made by another one where there is none. */
export async function lockRow<Row>(
  { query }: Session,
  lock: readonly [text: string, values: readonly unknown[]],
  add: readonly [text: string, values: readonly unknown[]],
): Promise<Row> {
  for (;;) {
    const [row] = await query<Row>(...lock);
    if (row !== undefined) return row;
    // Somebody else may be faster, or remove it again: then look again.
    await query(...add);
  }
}
