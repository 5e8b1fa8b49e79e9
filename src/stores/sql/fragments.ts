import { sql } from 'kysely';
import { numberSlot, slot } from './compile.ts';
import type { Dialect, DialectFragments } from './dialect.ts';

/** The fragments of a dialect. */
export function fragmentsOf(dialect: Dialect): DialectFragments {
  return dialect.name === 'sqlite' ? sqliteFragments() : postgresFragments(dialect);
}

function sqliteFragments(): DialectFragments {
  return {
    clock: numberSlot('now'),
    nextFence: sql<number>`(select fence from counters)`,
    words: slot<string>('words'),
    matches: sql<boolean>`span_words match ${slot('query')}`,
    isIn: (column, list) => sql<boolean>`${sql.ref(column)} in (select value from json_each(${list}))`,
  };
}

function postgresFragments({ schema, hasOwnClock }: Dialect): DialectFragments {
  const sequence = sql.lit(`${schema}.fences`);
  return {
    clock: hasOwnClock
      ? sql<number>`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`
      : numberSlot('now'),
    nextFence: sql<number>`nextval(${sequence})`,
    // The words are made by us: PostgreSQL's own parser takes a path for one word.
    words: sql<string>`array_to_tsvector(cast(${slot('words')} as text[]))`,
    matches: sql<boolean>`${sql.ref('span_words.words')} @@ cast(${slot('query')} as tsquery)`,
    isIn: (column, list) => sql<boolean>`${sql.ref(column)} = any(cast(${list} as text[]))`,
  };
}
