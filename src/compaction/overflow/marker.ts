import type { Message } from '../../conversation/message.ts';

/** A marker that other programs leave. It is taken for one of ours. */
const FOREIGN_MARKER = '[earlier conversation truncated for compaction retry]';

/** Text of the user message that stands where rounds are missing. */
export function markerText(droppedRounds: number): string {
  const count = `${droppedRounds} ${droppedRounds === 1 ? 'round' : 'rounds'}`;
  return `[earlier conversation left out: ${count} did not fit the context window]`;
}

/** The markers that earlier retries have left in a list. */
export interface Markers {
  readonly places: ReadonlySet<number>;
  /** Where the first one stands; infinite when there is none. */
  readonly start: number;
  readonly text: string | undefined;
  /** The rounds they speak of; another program's does not say. */
  readonly droppedRounds: number;
}

export function findMarkers(messages: readonly Message[]): Markers {
  const places = new Set<number>();
  let text: string | undefined;
  let droppedRounds = 0;
  // Nobody reads what stands before the provider's own summary: a marker there stays as it is.
  const readFrom = messages.findLastIndex(({ blocks }) => blocks.some(({ type }) => type === 'compaction'));
  // A marker always has something behind it; the last message is the user's, whatever it says.
  for (const [index, message] of messages.slice(0, -1).entries()) {
    if (index < readFrom) continue;
    const [block] = message.blocks;
    if (message.role !== 'user' || message.blocks.length !== 1 || block?.type !== 'text') continue;
    const count = Number(/\d+/.exec(block.text.slice(0, 100))?.[0] ?? 0);
    const isOurs = block.text === markerText(count);
    if (!isOurs && block.text !== FOREIGN_MARKER) continue;
    places.add(index);
    text ??= block.text;
    droppedRounds += isOurs ? count : 0;
  }
  const [start = Number.POSITIVE_INFINITY] = places;
  return { places, start, text, droppedRounds };
}
