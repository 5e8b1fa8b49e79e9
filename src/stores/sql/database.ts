import type { RoundfoldError } from '../../core/errors.ts';
import type { Dialect } from './dialect.ts';
import type { Prepared, SlotValues } from './prepared.ts';

/** Runs statements, one after the other. */
export interface Session {
  run<Row>(statement: Prepared<Row>, values?: SlotValues): Promise<readonly Row[]>;
  /** The first row alone, which is quicker where there is one at most. */
  first<Row>(statement: Prepared<Row>, values?: SlotValues): Promise<Row | undefined>;
}

/** An open database. */
export interface Database {
  readonly dialect: Dialect;
  /** Whether it is still the one that its address names, as far as that matters. */
  isCurrent(use: 'read' | 'write'): boolean;
  /** Outside of a transaction. */
  read<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** In one transaction, which is taken back when `work` throws. May run `work` again when others were in the way. */
  write<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** The version of the tables, 0 when there are none. */
  version(session: Session): Promise<number>;
  /** Keeps other processes from changing the tables until the transaction ends. */
  beginMigration(session: Session): Promise<void>;
  /** Writes down the version that the tables have now. */
  endMigration(session: Session, version: number): Promise<void>;
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
