import { binOf } from './bins.ts';
import type { LineIndex } from './line-index.ts';
import type { Group } from './sources.ts';

const TOKENS_AGO = [500, 1500, 4000, 8000, 16_000, 32_000, 64_000, 128_000];
const CHARACTERS_PER_TOKEN = 4;

/** How many bins there are for how long ago something was. */
export const AGES: number = TOKENS_AGO.length + 2;

/** What is the same for all entities and lines of a material. */
export interface Setting {
  /** Where the material ends. */
  readonly end: number;
  readonly rounds: number;
  /** How many texts it is made of. */
  readonly sources: number;
  readonly lastTouched: ReadonlyMap<Group, number>;
  /** How many files were touched since each was. */
  readonly rank: ReadonlyMap<Group, number>;
  readonly folders: LineIndex['folders'];
}

/** Gathers what features need beside the item itself. */
export function settingOf({
  lengthCharacters,
  rounds,
  sources,
  lastTouched,
  folders,
}: Pick<LineIndex, 'lengthCharacters' | 'rounds' | 'sources' | 'lastTouched' | 'folders'>): Setting {
  const newest = [...lastTouched].sort((left, right) => right[1] - left[1]);
  const rank = new Map(newest.map(([group], number) => [group, number]));
  return { end: lengthCharacters, rounds, sources: sources.length, lastTouched, rank, folders };
}

/** The bin for how long ago a place is; the last one is for what never was. */
export function age(at: number, { end }: Setting): number {
  return at < 0 ? AGES - 1 : binOf((end - at) / CHARACTERS_PER_TOKEN, TOKENS_AGO);
}
