import type { Block, Message } from '../../conversation/message.ts';

/** How many results stand elsewhere than before: behind something else or, where it matters, in another message. */
export function countMoved(
  before: readonly Message[],
  after: readonly Message[],
  isOneMessage: boolean,
): number {
  const places = placesOfResults(before, isOneMessage);
  let moved = 0;
  for (const [raw, place] of placesOfResults(after, isOneMessage)) {
    const old = places.get(raw);
    if (old !== undefined && (old.behind !== place.behind || old.distance !== place.distance)) moved++;
  }
  return moved;
}

interface ResultPlace {
  /** The last value before it that is no result. */
  readonly behind: unknown;
  readonly distance: number;
}

function placesOfResults(
  messages: readonly Message[],
  isOneMessage: boolean,
): ReadonlyMap<unknown, ResultPlace> {
  const places = new Map<unknown, ResultPlace>();
  let behind: unknown;
  let distance = 0;
  for (const { blocks } of messages) {
    if (isOneMessage) distance++;
    for (const block of blocks) {
      if (isClientResult(block)) places.set(block.raw, { behind, distance });
      else {
        behind = block.raw;
        distance = 0;
      }
    }
  }
  return places;
}

function isClientResult(block: Block): boolean {
  return block.type === 'tool-result' && block.runBy === 'client';
}
