import type { RawBuilder } from 'kysely';

/** Where SQLite and PostgreSQL differ. Everything else is one text for both. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** PostgreSQL's namespace of the tables. */
  readonly schema: string | undefined;
  /** Whether rows are locked one by one; otherwise a transaction that writes is alone. */
  readonly locksRows: boolean;
  /** Whether an insert tells the id of its row by itself, in less time than it takes to return it. */
  readonly tellsAddedIds: boolean;
  /** Whether time is the server's, so that several machines agree. */
  readonly hasOwnClock: boolean;
  /** A list as the value of a slot. */
  listValue(items: readonly string[]): unknown;
  /** The words of a text as the value of a slot. */
  wordsValue(scope: string, words: ReadonlySet<string>): unknown;
  /** A search for all of the words as the value of a slot. */
  queryValue(scope: string, words: ReadonlySet<string>): string;
}

/** The fragments of SQL that differ. */
export interface DialectFragments {
  /** Milliseconds since 1970. */
  readonly clock: RawBuilder<number>;
  /** The next fence; on SQLite that of the counter, which was moved on before. */
  readonly nextFence: RawBuilder<number>;
  /** The words of the slot `words` as they are indexed. */
  readonly words: RawBuilder<string>;
  /** Whether the index matches the slot `query`. */
  readonly matches: RawBuilder<boolean>;
  /** Whether a column's text is in the list of a slot. */
  isIn(column: string, list: RawBuilder<string>): RawBuilder<boolean>;
}
