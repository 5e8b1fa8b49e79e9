import {
  BINDING_WORDS,
  ENTITY,
  type EntityStore,
  FLAG,
  type FolderUse,
  folderOf,
  LINE,
  type LineStore,
} from './line-index.ts';
import type { NumberList } from './records.ts';
import type { Group, Source } from './sources.ts';

/** What stands farther from a change than any line does. */
export const FAR = 1_000_000;

/** Ids of the lines of all sources, -1 for a blank one, and where those of each source begin. */
export interface Mentions {
  readonly ids: NumberList;
  readonly starts: readonly number[];
}

/** How far each line of a changed file stands from what was changed there. */
export function measureEdits(lines: LineStore, mentions: Mentions, sources: readonly Source[]): void {
  const { ids, starts } = mentions;
  for (const [number, { group }] of sources.entries()) {
    if (group.changes === 0) continue;
    const start = starts[number] ?? 0;
    const end = starts[number + 1] ?? ids.length;
    spread(lines, ids, { source: number, start, end, step: 1 });
    spread(lines, ids, { source: number, start: end - 1, end: start - 1, step: -1 });
  }
}

interface Way {
  readonly source: number;
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

function spread({ records }: LineStore, ids: NumberList, { source, start, end, step }: Way): void {
  let distance = FAR;
  for (let index = start; index !== end; index += step) {
    const id = ids.get(index);
    const isEdited =
      id !== -1 && (records.get(id, LINE.writtenAt) >= 0 || records.get(id, LINE.removedAt) >= 0);
    distance = isEdited ? 0 : distance + 1;
    if (id === -1 || records.get(id, LINE.source) !== source) continue;
    if (distance < records.get(id, LINE.editDistance)) records.set(id, LINE.editDistance, distance);
  }
}

/**
 * What stands beside something that is still being worked on is more likely to be needed. Names that the messages that stay
 * show without binding them are still worth a line that says what they are.
 */
export function measureWarmth(lines: LineStore, entities: EntityStore): void {
  const { names, records } = lines;
  const { records: known } = entities;
  const warm = new Int32Array(known.length);
  for (let line = 0; line < records.length; line++) {
    const start = records.get(line, LINE.names);
    const end = lines.namesEnd(line);
    let isWarm = false;
    for (let index = start; index < end && !isWarm; index++) {
      isWarm = (known.get(names.get(index), ENTITY.flags) & FLAG.kept) !== 0;
    }
    if (!isWarm) continue;
    const isKept = (records.get(line, LINE.flags) & FLAG.kept) !== 0;
    const isBinding = isKept && records.get(line, LINE.words) >= BINDING_WORDS;
    for (let index = start; index < end; index++) {
      const name = names.get(index);
      warm[name] = (warm[name] ?? 0) + 1;
      if (isBinding) known.mark(name, ENTITY.flags, FLAG.bound);
    }
  }
  entities.warm = warm;
}

/** How many files of each folder were touched, and where last. */
export function measureFolders(lastTouched: ReadonlyMap<Group, number>): ReadonlyMap<string, FolderUse> {
  const folders = new Map<string, FolderUse>();
  for (const [{ title }, at] of lastTouched) {
    const name = folderOf(title);
    const known = folders.get(name);
    folders.set(name, { files: (known?.files ?? 0) + 1, lastAt: Math.max(known?.lastAt ?? 0, at) });
  }
  return folders;
}
