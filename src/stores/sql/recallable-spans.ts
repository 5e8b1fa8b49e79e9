import { nameInColumn } from '../record/name.ts';
import type { ArchivedSpan } from '../store.ts';
import { firstRow, type Operation } from './operation.ts';
import type { FoundSpan } from './span-memory.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/** Spans that `recall` finds under their handles once they are committed. */
export interface RecallableSpans {
  readonly generation: number;
  readonly found: readonly FoundSpan[];
}

/**
 * Those of the spans that nothing else stands in front of under their handles. Runs in the transaction that wrote them, so
 * that nobody else writes before it ends. Undefined where memory would be of no use.
 */
export function* findRecallable(
  work: Work,
  { id, usedAt }: { readonly id: BigInteger; readonly usedAt: number },
  spans: readonly ArchivedSpan[],
): Operation<RecallableSpans | undefined> {
  const generation = spans.length === 0 ? undefined : yield* work.generation();
  if (generation === undefined) return undefined;
  const found: FoundSpan[] = [];
  for (const span of spans) {
    const names = { tenant: nameInColumn(span.tenant), handle: nameInColumn(span.handle) };
    const first = yield* firstRow(work.statements.placeByHandle, names);
    const isFirst = first?.conversation_id === id && Number(first.place) === span.start;
    if (isFirst) found.push({ span, usedAt });
  }
  return { generation, found };
}

/** Keeps them in memory. What has just left a view is what an agent asks for. */
export function rememberSpans({ memory }: Work, recallable: RecallableSpans | undefined): void {
  if (recallable === undefined) return;
  for (const found of recallable.found) memory.add(found, recallable.generation);
}
