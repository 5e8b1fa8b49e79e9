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

/** The values in the order of the statement's parameters. */
export function bind(statement: Prepared, values: SlotValues): unknown[] {
  return statement.parameters.map((parameter) => {
    if (!(parameter instanceof Slot)) return parameter;
    if (!Object.hasOwn(values, parameter.name)) throw new TypeError(`no value for ${parameter.name}`);
    return values[parameter.name];
  });
}

/** A statement that the query builder does not know. Takes no values. */
export function rawStatement<Row>(sql: string): Prepared<Row> {
  return { sql, parameters: [] };
}
