import { conversationStatements } from './conversation-statements.ts';
import type { Dialect } from './dialect.ts';
import { fragmentsOf } from './fragments.ts';
import { leaseStatements } from './lease-statements.ts';
import { createQueryBuilder } from './query-builder.ts';
import { recordStatements } from './record-statements.ts';

/** Every statement of a store, compiled once. */
export type Statements = ReturnType<typeof createStatements>;

const known = new WeakMap<Dialect, Statements>();

/** The statements of a dialect. Compiling them takes longer than opening a database, so they are kept. */
export function statementsOf(dialect: Dialect): Statements {
  const statements = known.get(dialect) ?? createStatements(dialect);
  known.set(dialect, statements);
  return statements;
}

function createStatements(dialect: Dialect) {
  const builder = createQueryBuilder(dialect);
  const fragments = fragmentsOf(dialect);
  return {
    ...leaseStatements(builder, fragments, dialect),
    ...conversationStatements(builder, fragments, dialect),
    ...recordStatements(builder, fragments, dialect),
  };
}
