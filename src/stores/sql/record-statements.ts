import { type Kysely, sql } from 'kysely';
import { numberSlot, prepare, prepareAdding, slot } from './compile.ts';
import type { Dialect, DialectFragments } from './dialect.ts';
import { staleAt } from './stale-at.ts';
import type { BigInteger, Tables } from './tables.ts';

/** Statements about checkpoints and spans. */
export function recordStatements(builder: Kysely<Tables>, fragments: DialectFragments, dialect: Dialect) {
  return {
    ...checkpointQueries(builder, fragments),
    ...checkpointChanges(builder, dialect),
    ...spanQueries(builder, fragments),
    ...spanChanges(builder, fragments, dialect),
  };
}

function checkpointQueries(builder: Kysely<Tables>, { clock, isIn }: DialectFragments) {
  const checkpoints = builder
    .selectFrom('checkpoints')
    .innerJoin('conversations', 'conversations.id', 'checkpoints.conversation_id')
    .select([
      'checkpoints.id',
      'checkpoints.tenant',
      'checkpoints.configuration',
      'checkpoints.link',
      'checkpoints.body',
      'checkpoints.conversation_id',
      'conversations.conversation',
      'conversations.used_at',
      staleAt(clock),
    ]);
  const named = builder
    .selectFrom('conversations as named')
    .where('named.tenant', '=', slot<string>('tenant'))
    .where(isIn('named.conversation', slot<string>('conversations')));
  const candidates = builder
    .selectFrom('checkpoints as candidates')
    .where('candidates.configuration', '=', slot<string>('configuration'))
    .where('candidates.boundary', '>=', numberSlot('from'))
    .where('candidates.boundary', '<=', numberSlot('to'))
    .orderBy('candidates.boundary', 'desc');
  // The index knows the longest of each conversation, and only one body is read.
  const longestOfEach = named.select(
    candidates
      .select('candidates.id')
      .whereRef('candidates.conversation_id', '=', sql.ref('named.id'))
      .limit(sql.lit(1))
      .as('id'),
  );

  return {
    longestCheckpoint: prepare(
      checkpoints
        .where('checkpoints.id', 'in', longestOfEach)
        .orderBy('checkpoints.boundary', 'desc')
        .limit(sql.lit(1)),
    ),
    /** All of them, the longest first. */
    candidates: prepare(
      candidates
        .select(['candidates.id', 'candidates.link'])
        .where('candidates.conversation_id', 'in', named.select('named.id')),
    ),
    checkpointById: prepare(checkpoints.where('checkpoints.id', '=', slot<BigInteger>('id'))),
    checkpoint: prepare(
      checkpoints
        .where('checkpoints.conversation_id', '=', slot<BigInteger>('id'))
        .where('checkpoints.configuration', '=', slot<string>('configuration'))
        .where('checkpoints.boundary', '=', numberSlot('boundary'))
        .where('checkpoints.link', '=', slot<string>('link')),
    ),
    checkpointsOf: prepare(
      checkpoints
        .where('checkpoints.conversation_id', '=', slot<BigInteger>('id'))
        .where('checkpoints.id', '>', slot<BigInteger>('after'))
        .orderBy('checkpoints.id')
        .limit(numberSlot('limit')),
    ),
    allCheckpoints: prepare(
      checkpoints
        .where('checkpoints.id', '>', slot<BigInteger>('after'))
        .orderBy('checkpoints.id')
        .limit(numberSlot('limit')),
    ),
  };
}

function checkpointChanges(builder: Kysely<Tables>, dialect: Dialect) {
  const add = builder
    .insertInto('checkpoints')
    .values({
      conversation_id: slot<BigInteger>('id'),
      tenant: slot<string>('tenant'),
      configuration: slot<string>('configuration'),
      link: slot<string>('link'),
      boundary: numberSlot('boundary'),
      body: slot<Uint8Array>('body'),
    })
    .onConflict((conflict) =>
      conflict.columns(['conversation_id', 'configuration', 'boundary', 'link']).doNothing(),
    );

  return {
    addCheckpoint: prepareAdding(dialect, add, add.returning('id')),
    replaceCheckpoint: prepare(
      builder
        .updateTable('checkpoints')
        .set({ body: slot<Uint8Array>('body') })
        .where('id', '=', slot<BigInteger>('id'))
        .returning('id'),
    ),
    removeCheckpoints: prepare(
      builder.deleteFrom('checkpoints').where('conversation_id', '=', slot<BigInteger>('id')).returning('id'),
    ),
  };
}

function spanQueries(builder: Kysely<Tables>, { clock, matches }: DialectFragments) {
  const spans = builder
    .selectFrom('spans')
    .innerJoin('conversations', 'conversations.id', 'spans.conversation_id')
    .select([
      'spans.id',
      'spans.tenant',
      'spans.handle',
      'spans.place',
      'spans.body',
      'conversations.conversation',
    ]);
  // In the order of the index, so that only one body is read; and no more columns than are not known yet.
  const first = builder
    .selectFrom('spans')
    .where('spans.tenant', '=', slot<string>('tenant'))
    .where('spans.handle', '=', slot<string>('handle'))
    .orderBy('spans.place')
    .orderBy('spans.conversation_id')
    .limit(sql.lit(1))
    .select(['spans.place', 'spans.conversation_id']);
  const byHandle = first
    .innerJoin('conversations', 'conversations.id', 'spans.conversation_id')
    .select(['spans.body', 'conversations.conversation', 'conversations.used_at', staleAt(clock)]);

  return {
    spanByHandle: prepare(byHandle),
    /** Where that one stands. */
    placeByHandle: prepare(first),
    /** The same, and what is in it. */
    bodyByHandle: prepare(first.select('spans.body')),
    nextSpanByHandle: prepare(
      byHandle.where(
        sql<boolean>`(${sql.ref('spans.place')}, ${sql.ref('spans.conversation_id')})
          > (${numberSlot('lastPlace')}, ${numberSlot('lastConversation')})`,
      ),
    ),
    span: prepare(
      spans
        .where('spans.conversation_id', '=', slot<BigInteger>('id'))
        .where('spans.handle', '=', slot<string>('handle'))
        .where('spans.place', '=', numberSlot('place')),
    ),
    spansOf: prepare(
      spans
        .where('spans.conversation_id', '=', slot<BigInteger>('id'))
        .where('spans.id', '>', slot<BigInteger>('after'))
        .orderBy('spans.id')
        .limit(numberSlot('limit')),
    ),
    allSpans: prepare(
      spans.where('spans.id', '>', slot<BigInteger>('after')).orderBy('spans.id').limit(numberSlot('limit')),
    ),
    matchingSpans: prepare(
      spans
        .innerJoin('span_words', 'span_words.rowid', 'spans.id')
        .where('spans.conversation_id', '=', slot<BigInteger>('id'))
        .where(matches)
        .orderBy('spans.place')
        .orderBy('spans.id')
        .limit(numberSlot('limit')),
    ),
  };
}

function spanChanges(builder: Kysely<Tables>, { words }: DialectFragments, dialect: Dialect) {
  const spanIds = builder
    .selectFrom('spans')
    .select('spans.id')
    .where('spans.conversation_id', '=', slot<BigInteger>('id'));
  const add = builder
    .insertInto('spans')
    .values({
      conversation_id: slot<BigInteger>('id'),
      tenant: slot<string>('tenant'),
      handle: slot<string>('handle'),
      place: numberSlot('place'),
      body: slot<Uint8Array>('body'),
    })
    .onConflict((conflict) => conflict.columns(['conversation_id', 'handle', 'place']).doNothing());

  return {
    addSpan: prepareAdding(dialect, add, add.returning('id')),
    replaceSpan: prepare(
      builder
        .updateTable('spans')
        .set({ body: slot<Uint8Array>('body') })
        .where('id', '=', slot<BigInteger>('id'))
        .returning('id'),
    ),
    addWords: prepare(builder.insertInto('span_words').values({ rowid: slot<BigInteger>('id'), words })),
    removeWords: prepare(builder.deleteFrom('span_words').where('rowid', '=', slot<BigInteger>('id'))),
    removeWordsOf: prepare(builder.deleteFrom('span_words').where('rowid', 'in', spanIds)),
    removeSpans: prepare(
      builder.deleteFrom('spans').where('conversation_id', '=', slot<BigInteger>('id')).returning('id'),
    ),
  };
}
