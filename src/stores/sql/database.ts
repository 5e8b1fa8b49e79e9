import type { RoundfoldError } from '../../conversation/errors.ts';
import type { Dialect } from './dialect.ts';
import type { Operation } from './operation.ts';
import type { Prepared } from './prepared.ts';

/** An open database. */
export interface Database {
  readonly dialect: Dialect;
  /** Whether it is still the one that its address names, as far as that matters. */
  isCurrent(use: 'read' | 'write'): boolean;
  /**
   * The first row of a query whose parameters are texts: its values, in the order of the columns, where the database has them
   * at once. Undefined where there is none, and where an operation would have to wait or to fail.
   */
  glance(statement: Prepared, ...parameters: readonly string[]): readonly unknown[] | undefined;
  /** Outside of a transaction. A database that has the result at once gives and throws at once. */
  read<Result>(begin: () => Operation<Result>): Result | Promise<Result>;
  /**
   * In one transaction, taken back when the operation throws. It begins again when others were in the way. `committed` hears
   * of the result before anybody else has a turn.
   */
  write<Result>(
    begin: () => Operation<Result>,
    committed?: (result: Result) => void,
  ): Result | Promise<Result>;
  /** A number that is another one when somebody else has written; undefined where asking takes as long as reading. */
  generation(): Operation<number | undefined>;
  /** The version of the tables, 0 when there are none. */
  version(): Operation<number>;
  /** Keeps other processes from changing the tables until the transaction ends. */
  beginMigration(): Operation<void>;
  /** Writes down the version that the tables have now. */
  endMigration(version: number): Operation<void>;
  /** Makes what was deleted unreadable in the files, as far as the database can. */
  purge(): Promise<void>;
  /** @throws when the database itself is damaged */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** How a kind of database is opened, and what its errors mean. */
export interface DatabaseOpener {
  open(): Promise<Database>;
  /** Never holds content, passwords or keys. */
  explain(error: unknown): RoundfoldError;
  /** Whether the database must be opened again. */
  isLost(error: unknown): boolean;
}
