import { isObject } from '../../conversation/json.ts';
import type { Block, Message } from '../../conversation/message.ts';
import type { MendContext } from './mender.ts';
import { LEFT_OUT } from './raw-message.ts';

/**
 * A summary that the provider has signed stands first and alone: what it summarises may not stand before it, and no other
 * summary beside it. Of several the newest counts, since it covers the others. Unsigned ones may stand anywhere.
 */
export function beginAtSummary(
  messages: readonly Message[],
  { format, log }: MendContext,
): readonly Message[] {
  const isAnySigned = messages.some(({ blocks }) => blocks.some(isSigned));
  if (!isAnySigned) return messages;
  const start = messages.findLastIndex(({ blocks }) => blocks.some(isSummary));
  const first = messages[start];
  if (first === undefined) return messages;
  const position = first.blocks.findLastIndex(isSummary);
  const isPlaced = start === 0 && position === 0;
  const mayStay =
    isSummary(first.blocks[position]) && !isSigned(first.blocks[position]) && isOnlySummary(messages);
  if (isPlaced || mayStay) return messages;
  if (start > 0) log.add("message before the provider's own summary", LEFT_OUT, start);
  if (position > 0) log.add("block before the provider's own summary", LEFT_OUT, position);
  const opening = position === 0 ? first : format.withBlocks(first, first.blocks.slice(position));
  return [opening, ...messages.slice(start + 1)];
}

function isSummary(block: Block | undefined): boolean {
  return block?.type === 'compaction';
}

function isSigned(block: Block | undefined): boolean {
  return block?.type === 'compaction' && isObject(block.raw) && (block.raw['signature'] ?? null) !== null;
}

function isOnlySummary(messages: readonly Message[]): boolean {
  return messages.flatMap(({ blocks }) => blocks.filter(isSummary)).length === 1;
}
