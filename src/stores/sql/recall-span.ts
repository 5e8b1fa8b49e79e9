import type { ArchivedSpan } from '../../core/store.ts';
import { nameInColumn } from '../record/name.ts';
import { markUsed } from './mark-used.ts';
import { firstRow, type Operation } from './operation.ts';
import { readSpanRow, served } from './rows.ts';
import { type FoundSpan, spanKey } from './span-memory.ts';
import type { Work } from './work.ts';

/** The span of that name, which is used with it. */
export function* recallSpan(
  work: Work,
  { tenant, handle }: { readonly tenant: string; readonly handle: string },
): Operation<ArchivedSpan | undefined> {
  const { memory } = work;
  const names = { tenant: nameInColumn(tenant), handle: nameInColumn(handle) };
  const key = spanKey(names);
  // Asked first: whatever is written while the span is read belongs to the next generation.
  const generation = memory.expects(key) ? yield* work.generation() : undefined;
  const known = generation === undefined ? undefined : memory.get(key, generation);
  if (known !== undefined) return known;
  const found = yield* readByHandle(work, names);
  if (found !== undefined && generation !== undefined) memory.add(key, found, generation);
  return found?.span;
}

/** A span of that name that can be served, the nearest to the beginning of a conversation, of the oldest such one. */
function* readByHandle(
  work: Work,
  names: { readonly tenant: string; readonly handle: string },
): Operation<FoundSpan | undefined> {
  const { statements, codec } = work;
  let row = yield* firstRow(statements.spanByHandle, names);
  while (row !== undefined) {
    const span = served(work, readSpanRow(codec, { ...names, ...row }));
    if (span !== undefined) return { span, usedAt: yield* markUsed(work, row) };
    const after = { ...names, lastPlace: row.place, lastConversation: row.conversation_id };
    row = yield* firstRow(statements.nextSpanByHandle, after);
  }
  return undefined;
}
