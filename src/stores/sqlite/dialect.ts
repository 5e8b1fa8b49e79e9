import type { Dialect } from '../sql/dialect.ts';

/** SQLite: one transaction writes at a time, and time is ours. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  schema: undefined,
  locksRows: false,
  tellsAddedIds: true,
  hasOwnClock: false,
  listValue: (items) => JSON.stringify(items),
  wordsValue: (scope, words) => [`_${scope}`, ...words].join(' '),
  // Quoted, no word is an operator.
  queryValue: (scope, words) => [`_${scope}`, ...words].map((word) => `"${word}"`).join(' AND '),
};
