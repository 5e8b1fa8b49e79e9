import type { Prepared, SlotValues } from './prepared.ts';
import type { BigInteger } from './tables.ts';

/** A statement for the database to run. */
export interface Step {
  readonly statement: Prepared;
  readonly values: SlotValues;
  /** All rows, the first one, or only the `id` of the row that an insert has added. */
  readonly wanted: 'all' | 'first' | 'added';
}

/**
 * What is done with a database, statement by statement. Whoever runs it decides how to wait for the rows: SQLite has them at
 * once, so that a transaction ends before anybody else has a turn, and PostgreSQL later.
 */
export type Operation<Result> = Generator<Step, Result, readonly unknown[]>;

/** Runs a statement to its end. */
export function* allRows<Row>(statement: Prepared<Row>, values: SlotValues = {}): Operation<readonly Row[]> {
  const rows = yield { statement, values, wanted: 'all' };
  return rows as readonly Row[]; // the shape that the statement was compiled for
}

/** The first row of a query. A change must run to its end. */
export function* firstRow<Row>(
  statement: Prepared<Row>,
  values: SlotValues = {},
): Operation<Row | undefined> {
  const rows = yield { statement, values, wanted: 'first' };
  return rows[0] as Row | undefined; // the same
}

/** The row that a statement of `prepareAdding` has added; undefined when another one was in its place. */
export function* addedRow(
  statement: Prepared<{ readonly id: BigInteger }>,
  values: SlotValues,
): Operation<{ readonly id: BigInteger } | undefined> {
  const rows = yield { statement, values, wanted: 'added' };
  return rows[0] as { readonly id: BigInteger } | undefined; // the same
}

/** Rows at a time. Bodies can be large. */
const PAGE_ROWS = 50;

/** Visits the rows of a query with `after` and `limit`, a page at a time. */
export function* eachRow<Row extends { readonly id: unknown }>(
  statement: Prepared<Row>,
  values: SlotValues,
  visit: (row: Row) => void,
): Operation<void> {
  let after: unknown = -1;
  for (;;) {
    const page = yield* allRows(statement, { ...values, after, limit: PAGE_ROWS });
    page.forEach(visit);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = last.id;
  }
}

/** The result of an operation on a database that answers at once. */
export function performAtOnce<Result>(
  operation: Operation<Result>,
  run: (step: Step) => readonly unknown[],
): Result {
  let current = operation.next();
  while (current.done !== true) {
    let rows: readonly unknown[];
    try {
      rows = run(current.value);
    } catch (error) {
      current = operation.throw(error);
      continue;
    }
    current = operation.next(rows);
  }
  return current.value;
}

/** The same on one that answers later. */
export async function perform<Result>(
  operation: Operation<Result>,
  run: (step: Step) => Promise<readonly unknown[]>,
): Promise<Result> {
  let current = operation.next();
  while (current.done !== true) {
    let rows: readonly unknown[];
    try {
      rows = await run(current.value);
    } catch (error) {
      current = operation.throw(error);
      continue;
    }
    current = operation.next(rows);
  }
  return current.value;
}
