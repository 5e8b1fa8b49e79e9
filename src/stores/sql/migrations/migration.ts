import type { Dialect } from '../dialect.ts';

/** A step from one version of the tables to the next. Never changed once it was released. */
export interface Migration {
  readonly version: number;
  /** Statements without values, run in one transaction. */
  statements(dialect: Dialect): readonly string[];
}
