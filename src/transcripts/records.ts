import type { Place } from '../conversation/errors.ts';
import { asCount, isObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import type { Origin } from './transcript.ts';

/** Counts what a reader leaves out or mends, and says it in whole sentences. */
export interface Tally {
  /** Counts one more. `{n}` in the note stands for the number, `{s}` for the plural: `{n} turn{s} left out`. */
  add(note: string): void;
  /** One sentence per kind of note, in the order in which they first occurred. */
  notes(): readonly string[];
}

/** An empty tally. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  return {
    add: (note) => count(counts, note),
    notes: () => [...counts].map(([note, times]) => fillNote(note, times)),
  };
}

/** The note with a number in the places of `{n}` and `{s}`. */
export function fillNote(note: string, times: number): string {
  return note.replaceAll('{n}', String(times)).replaceAll('{s}', times === 1 ? '' : 's');
}

/** Counts one more under this name. */
export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** `3 ghost_snapshot, 1 other` */
export function listCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, times]) => `${times} ${name}`).join(', ');
}

/** The place of something inside a value: `path` continues the path of the value itself. */
export function placeInside(place: Place, path: string): Place {
  return { ...place, path: place.path === undefined ? path : `${place.path}.${path}` };
}

/** The origin of a message of which no more is known than where it stands and perhaps when it was written. */
export function originAt(place: Place, timestamp?: string): Origin {
  return { place, timestamp, responseId: undefined, usage: undefined };
}

const MILLISECONDS_PER = { milliseconds: 1, seconds: 1000 } as const;

/** Dates end here, to either side of 1970. */
const LAST_TIME_MS = 8.64e15;

/**
 * A recorded time as ISO 8601. A string stays as it is; a number counts from 1970 in `unit` (default `milliseconds`).
 * Undefined for everything else.
 */
export function timestampOf(
  value: unknown,
  unit: keyof typeof MILLISECONDS_PER = 'milliseconds',
): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  const timeMs = value * MILLISECONDS_PER[unit];
  return Math.abs(timeMs) <= LAST_TIME_MS ? new Date(timeMs).toISOString() : undefined;
}

/** The usage in a record that counts tokens under these names; undefined when it counts none. */
export function usageOf(
  counts: unknown,
  promptNames: readonly string[],
  outputNames: readonly string[],
): Usage | undefined {
  if (!isObject(counts)) return undefined;
  const sum = (names: readonly string[]): number =>
    names.reduce((total, name) => total + asCount(counts[name]), 0);
  const promptTokens = sum(promptNames);
  const outputTokens = sum(outputNames);
  return promptTokens + outputTokens === 0 ? undefined : { promptTokens, outputTokens };
}
