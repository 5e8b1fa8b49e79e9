import type { Receipt } from '../compaction/plan/receipt.ts';
import type { Message } from '../conversation/message.ts';
import { textsOf } from './message-texts.ts';
import type { IsRetrievable } from './need-score.ts';

const HANDLE = /rf:\w{1,64}/g;

/**
 * What a model that reads `output` could fetch back by the handles it finds there. A handle is taken to give back the run
 * of the receipt that it names. That is what an archive of everything that left would do; none is asked.
 */
export function retrievableFrom(
  before: readonly Message[],
  output: readonly Message[],
  receipt: Receipt | undefined,
): IsRetrievable {
  const handles = new Set(
    output.flatMap((message) => textsOf(message).flatMap(({ text }) => text.match(HANDLE) ?? [])),
  );
  if (handles.size === 0) return () => false;
  const messages = new Set<number>();
  for (const { start, end, handle } of receipt?.runs ?? []) {
    if (handle === undefined || !handles.has(handle)) continue;
    for (let index = start; index < end; index++) messages.add(index);
  }
  const blocks = before.flatMap((message, index) => textsOf(message).map(() => messages.has(index)));
  return (sourceBlock) => blocks[sourceBlock] === true;
}
