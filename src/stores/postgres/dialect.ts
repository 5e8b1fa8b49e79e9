import type { Dialect } from '../sql/dialect.ts';

/** PostgreSQL: rows are locked one by one. */
export function postgresDialect(schema: string, hasOwnClock: boolean): Dialect {
  return {
    name: 'postgres',
    schema,
    locksRows: true,
    tellsAddedIds: false,
    hasOwnClock,
    listValue: (items) => items,
    wordsValue: (_scope, words) => [...words],
    // Quoted, no word is an operator.
    queryValue: (_scope, words) => [...words].map((word) => `'${word}'`).join(' & '),
  };
}
