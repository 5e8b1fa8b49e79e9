/** A place in a statement for a value that is known only when it runs. */
export class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A statement that was compiled once: building the text takes longer than running it. */
export interface Prepared<Row = unknown> {
  readonly sql: string;
  /** Values, and slots for those to come. */
  readonly parameters: readonly unknown[];
  /** What its rows look like; there at compile time only. */
  readonly row?: Row;
}

/** The values of a statement's slots. */
export type SlotValues = Readonly<Record<string, unknown>>;

/** The values in the order of the statement's parameters. The slot `now` has the time unless it is given. */
export function bind(statement: Prepared, values: SlotValues, now: () => number): unknown[] {
  const bound: unknown[] = [];
  for (const parameter of statement.parameters) {
    bound.push(parameter instanceof Slot ? slotValue(parameter, values, now) : parameter);
  }
  return bound;
}

function slotValue({ name }: Slot, values: SlotValues, now: () => number): unknown {
  const value = values[name];
  if (value !== undefined) return value;
  if (name === 'now') return Math.floor(now());
  throw new TypeError(`no value for ${name}`);
}

/** A statement that the query builder does not know. Takes no values. */
export function rawStatement<Row>(sql: string): Prepared<Row> {
  return { sql, parameters: [] };
}
