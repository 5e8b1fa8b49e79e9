import type { ArchivedSpan } from '../../core/store.ts';
import { nameInColumn } from '../record/name.ts';
import { markUsed } from './mark-used.ts';
import { firstRow, type Operation } from './operation.ts';
import { readFoundSpan, served } from './rows.ts';
import type { SpanName } from './span-memory.ts';
import type { Work } from './work.ts';

/**
 * The span of that name that can be served, the nearest to the beginning of a conversation, of the oldest such one. It is
 * used with it.
 */
export function* recallSpan(work: Work, name: SpanName): Operation<ArchivedSpan | undefined> {
  const { memory, statements, codec } = work;
  const names = { tenant: nameInColumn(name.tenant), handle: nameInColumn(name.handle) };
  // Asked first: whatever is written while the span is read belongs to the next generation.
  const generation = memory.expects(name.handle) ? yield* work.generation() : undefined;
  const known = generation === undefined ? undefined : memory.get(name, generation);
  if (known !== undefined) return known;

  let row = yield* firstRow(statements.spanByHandle, names);
  while (row !== undefined) {
    const span = served(work, readFoundSpan(codec, name, row));
    if (span !== undefined) {
      const usedAt = yield* markUsed(work, row);
      if (generation !== undefined) memory.add({ span, usedAt }, generation);
      return span;
    }
    const after = { ...names, lastPlace: row.place, lastConversation: row.conversation_id };
    row = yield* firstRow(statements.nextSpanByHandle, after);
  }
  return undefined;
}
