import { type Kysely, sql } from 'kysely';
import { numberSlot, prepare, slot } from './compile.ts';
import type { DialectFragments } from './dialect.ts';
import { staleAt } from './stale-at.ts';
import type { BigInteger, Tables } from './tables.ts';

/** Statements about checkpoints and spans. */
export function recordStatements(builder: Kysely<Tables>, fragments: DialectFragments) {
  return {
    ...checkpointQueries(builder, fragments),
    ...checkpointChanges(builder),
    ...spanQueries(builder, fragments),
    ...spanChanges(builder, fragments),
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
        .where('checkpoints.tenant', '=', slot<string>('tenant'))
        .where('checkpoints.configuration', '=', slot<string>('configuration'))
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

function checkpointChanges(builder: Kysely<Tables>) {
  return {
    addCheckpoint: prepare(
      builder
        .insertInto('checkpoints')
        .values({
          conversation_id: slot<BigInteger>('id'),
          tenant: slot<string>('tenant'),
          configuration: slot<string>('configuration'),
          link: slot<string>('link'),
          boundary: numberSlot('boundary'),
          body: slot<Uint8Array>('body'),
        })
        .onConflict((conflict) => conflict.columns(['tenant', 'configuration', 'link']).doNothing())
        .returning('id'),
    ),
    replaceCheckpoint: prepare(
      builder
        .updateTable('checkpoints')
        .set({ body: slot<Uint8Array>('body'), conversation_id: slot<BigInteger>('conversation') })
        .where('id', '=', slot<BigInteger>('id'))
        .returning('id'),
    ),
    removeCheckpoints: prepare(
      builder.deleteFrom('checkpoints').where('conversation_id', '=', slot<BigInteger>('id')).returning('id'),
    ),
  };
}

function spanQueries(builder: Kysely<Tables>, { clock, matches }: DialectFragments) {
  const records = builder
    .selectFrom('spans')
    .innerJoin('conversations', 'conversations.id', 'spans.conversation_id')
    .select(['spans.place', 'spans.body', 'conversations.conversation']);
  const spans = records.select(['spans.id', 'spans.tenant', 'spans.handle']);
  // In the order of the index, so that only one body is read; and no more columns than are not known yet.
  const byHandle = records
    .select(['spans.conversation_id', 'conversations.used_at', staleAt(clock)])
    .where('spans.tenant', '=', slot<string>('tenant'))
    .where('spans.handle', '=', slot<string>('handle'))
    .orderBy('spans.place')
    .orderBy('spans.conversation_id')
    .limit(sql.lit(1));

  return {
    spanByHandle: prepare(byHandle),
    /** Where that one stands. */
    placeByHandle: prepare(byHandle.clearSelect().select(['spans.place', 'spans.conversation_id'])),
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

function spanChanges(builder: Kysely<Tables>, { words }: DialectFragments) {
  const spanIds = builder
    .selectFrom('spans')
    .select('spans.id')
    .where('spans.conversation_id', '=', slot<BigInteger>('id'));

  return {
    addSpan: prepare(
      builder
        .insertInto('spans')
        .values({
          conversation_id: slot<BigInteger>('id'),
          tenant: slot<string>('tenant'),
          handle: slot<string>('handle'),
          place: numberSlot('place'),
          body: slot<Uint8Array>('body'),
        })
        .onConflict((conflict) => conflict.columns(['conversation_id', 'handle', 'place']).doNothing())
        .returning('id'),
    ),
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
