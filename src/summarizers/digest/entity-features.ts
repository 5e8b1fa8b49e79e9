import { binOf, cross, type Feature, type FeatureTable, layOut } from './bins.ts';
import type { Entity } from './index-views.ts';
import { folderOf } from './line-index.ts';
import { SHAPE } from './scan-line.ts';
import { AGES, age, type Setting } from './setting.ts';
import { ORIGIN } from './sources.ts';

const USES = [0, 1, 2, 3, 5, 8, 13];
const RANKS = [0, 1, 2, 4, 8, 16, 32];
const CHANGES = [0, 1, 3, 8];
const LENGTHS = [3, 5, 8, 12, 16, 22, 30, 45];
const WARM_SHARES = [0.15, 0.3, 0.5, 0.75, 0.99];
const FILES = [0, 1, 2, 4, 8];
const LINES_A_SOURCE = [1, 1.5, 2, 3, 5, 8];
const DECLARATIONS = [0, 1, 2];
const FAILURES = [0, 1, 3];
const CHANGED_SHARES = [0, 0.1, 0.3, 0.6, 0.9];
const CROWDS = [1, 2, 3, 4, 6, 9, 14];

const ROUNDS_AGO = [2, 4, 8, 16, 32, 64, 128];
const COUNTS = [1, 2, 3, 5, 8, 13, 25, 60];
const SHARES = [0, 0.2, 0.4, 0.6, 0.8, 0.99];
const SHAPES = Object.keys(SHAPE).length;

const SAYS = [ORIGIN.user, ORIGIN.said, ORIGIN.thought, ORIGIN.plan];
const DOES = [ORIGIN.written, ORIGIN.removed, ORIGIN.argument];
const SHOWS = [ORIGIN.read, ORIGIN.shell, ORIGIN.search, ORIGIN.result];

/** Which of some origins show an entity, as bits. */
function shownBy(origins: number, wanted: readonly number[]): number {
  let bits = 0;
  for (let bit = 0; bit < wanted.length; bit++) {
    if ((origins & (1 << (wanted[bit] ?? 0))) !== 0) bits |= 1 << bit;
  }
  return bits;
}

const shape: Feature = { name: 'shape', size: SHAPES };
const lastShown: Feature = { name: 'age of the last mention', size: AGES };
const lastUsed: Feature = { name: 'age of the last use in a call', size: AGES };
const sources: Feature = { name: 'sources', size: COUNTS.length + 1 };
const used: Feature = { name: 'uses in calls', size: 8 };
const fileRank: Feature = { name: 'files touched since its file', size: 9 };
const fileChanges: Feature = { name: 'changes of its file', size: 6 };
const length: Feature = { name: 'length', size: 9 };
const warmth: Feature = { name: 'share of lines that name something that stays', size: 7 };
const focus: Feature = { name: 'share of its name that the newest messages talk of', size: 7 };
const asked: Feature = { name: 'share of its name that the user wrote of', size: 7 };
const results: Feature = { name: 'what shows it', size: 16 };
const folderFiles: Feature = { name: 'touched files of its folder', size: 7 };
const folderAge: Feature = { name: 'age of the last touch of its folder', size: AGES };
const crowd: Feature = { name: 'names of the text around it', size: 8 };
const others: readonly Feature[] = [
  { name: 'age of the first mention', size: AGES },
  { name: 'rounds since the last mention', size: ROUNDS_AGO.length + 1 },
  { name: 'lines', size: COUNTS.length + 1 },
  { name: 'lines for each source', size: 7 },
  { name: 'who says it', size: 16 },
  { name: 'what a call does with it', size: 8 },
  { name: 'declarations', size: 4 },
  { name: 'failures', size: 4 },
  { name: 'share in changed files', size: 6 },
];

/** The bins of an entity, in the order of the single features below. */
function findBins(entity: Entity, setting: Setting, into: Uint16Array): void {
  const { count, origins, file, warm } = entity;
  const isPath = entity.shape === SHAPE.path || entity.shape === SHAPE.folder;
  const folder = isPath ? setting.folders.get(folderOf(entity.text)) : undefined;
  into[0] = entity.shape;
  into[1] = age(entity.lastAt, setting);
  into[2] = age(entity.lastUsedAt, setting);
  into[3] = binOf(entity.sources, COUNTS);
  into[4] = binOf(entity.used, USES);
  into[5] = file === undefined ? 8 : binOf(setting.rank.get(file) ?? 99, RANKS);
  into[6] = file === undefined ? 5 : binOf(file.changes, CHANGES);
  into[7] = binOf(entity.text.length, LENGTHS);
  into[8] = warm === 0 ? 0 : 1 + binOf(warm / entity.distinct, WARM_SHARES);
  into[9] = binOf(entity.focus, SHARES);
  into[10] = binOf(entity.asked, SHARES);
  into[11] = shownBy(origins, SHOWS);
  into[12] = isPath ? binOf(folder?.files ?? 0, FILES) : 6;
  into[13] = isPath ? age(folder?.lastAt ?? -1, setting) : AGES - 1;
  into[14] = binOf(entity.crowd / count, CROWDS);
  into[15] = age(entity.firstAt, setting);
  into[16] = binOf(setting.rounds - entity.lastRound, ROUNDS_AGO);
  into[17] = binOf(count, COUNTS);
  into[18] = binOf(count / entity.sources, LINES_A_SOURCE);
  into[19] = shownBy(origins, SAYS);
  into[20] = shownBy(origins, DOES);
  into[21] = binOf(entity.declared, DECLARATIONS);
  into[22] = binOf(entity.failed, FAILURES);
  into[23] = binOf(entity.inChanged / count, CHANGED_SHARES);
}

/** What tells whether a later call will name an entity. */
export const entityTable: FeatureTable<Entity, Setting> = layOut(
  [
    cross(shape, lastShown),
    cross(shape, lastUsed),
    cross(shape, sources),
    cross(lastUsed, sources),
    cross(used, lastShown),
    cross(fileRank, fileChanges),
    cross(shape, fileRank),
    cross(shape, fileChanges),
    ...others,
    cross(shape, length),
    cross(lastShown, warmth),
    cross(lastShown, focus),
    cross(shape, focus),
    cross(asked, focus),
    cross(lastShown, results),
    cross(folderFiles, folderAge),
    cross(folderFiles, lastUsed),
    crowd,
  ],
  [
    shape,
    lastShown,
    lastUsed,
    sources,
    used,
    fileRank,
    fileChanges,
    length,
    warmth,
    focus,
    asked,
    results,
    folderFiles,
    folderAge,
    crowd,
    ...others,
  ],
  findBins,
);
