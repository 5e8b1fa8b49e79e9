import { type Compilable, type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Prepared, Slot } from './prepared.ts';

/** A text or bytes to come. */
export function slot<Value>(name: string): RawBuilder<Value> {
  return sql<Value>`${new Slot(name)}`;
}

/** A whole number to come. The type is said, because PostgreSQL cannot guess it in arithmetic. */
export function numberSlot(name: string): RawBuilder<number> {
  return sql<number>`cast(${new Slot(name)} as bigint)`;
}

/** Keeps the text of a query, with its slots. */
export function prepare<Row>(query: Compilable<Row>): Prepared<Row> {
  const { sql: text, parameters } = query.compile();
  return { sql: text, parameters };
}

/** The same for an insert that somebody wants the id of, which the second query returns. */
export function prepareAdding<Row>(
  { tellsAddedIds }: Dialect,
  insert: Compilable,
  returning: Compilable<Row>,
): Prepared<Row> {
  return prepare<Row>(tellsAddedIds ? (insert as Compilable<Row>) : returning); // nobody looks at its rows
}
