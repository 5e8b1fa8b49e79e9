import { binOf, cross, type Feature, type FeatureTable, layOut } from './bins.ts';
import type { Line } from './index-views.ts';
import { AGES, age, type Setting } from './setting.ts';
import type { Group } from './sources.ts';

const CHANGES = [0, 1, 2, 4, 8, 16];
const RANKS = [0, 1, 2, 3, 5, 8, 13];
const DISTANCES = [0, 1, 3, 6, 12, 25, 60, 1000];
const MENTIONS = [1, 2, 3, 4, 6, 10];
const READINGS = [0, 1, 2, 3, 5];
const LENGTHS = [19, 25, 32, 40, 50, 65, 85, 120];
const INDENTATIONS = [0, 1, 2, 4, 8, 12, 20];
const NAMES = [0, 1, 2, 3, 4, 6];
const SOURCE_LINES = [5, 15, 40, 80, 150, 300, 800];
const SOURCES_SINCE = [0, 1, 2, 4, 7, 12, 20, 40];

const FIRST_CHARACTERS = '/#*}@<-"[';

const origin: Feature = { name: 'origin', size: 11 };
const lineAge: Feature = { name: 'age of the last mention', size: AGES };
const changes: Feature = { name: 'changes of its file', size: 8 };
const rankOfFile: Feature = { name: 'files touched since its file', size: 9 };
const distance: Feature = { name: 'distance from a change', size: 9 };
const written: Feature = { name: 'age of its writing', size: AGES };
const sourceSize: Feature = { name: 'size of its source', size: 8 };
const since: Feature = { name: 'sources since', size: 9 };
const others: readonly Feature[] = [
  { name: 'age of the last touch of its file', size: AGES },
  { name: 'removal', size: 3 },
  { name: 'mentions', size: 7 },
  { name: 'readings', size: 6 },
  { name: 'length', size: 9 },
  { name: 'indentation', size: 8 },
  { name: 'first character', size: FIRST_CHARACTERS.length + 1 },
  { name: 'names', size: 7 },
];

/** The bins of a line, in the order of the single features below. */
function findBins(line: Line, setting: Setting, into: Uint16Array): void {
  const { indent, text, lastAt, removedAt, groupNumber, groupBins } = line;
  if (groupNumber !== line.binnedGroup) {
    findGroupBins(line.group, setting, groupBins);
    line.binnedGroup = groupNumber;
  }
  into[0] = line.origin;
  into[1] = age(lastAt, setting);
  into[2] = groupBins[0] ?? 0;
  into[3] = groupBins[1] ?? 0;
  into[4] = binOf(line.editDistance, DISTANCES);
  into[5] = age(line.writtenAt, setting);
  into[6] = groupBins[2] ?? 0;
  into[7] = removalBin(removedAt, lastAt);
  into[8] = binOf(line.count, MENTIONS);
  into[9] = binOf(line.reads, READINGS);
  into[10] = binOf(text.length - indent, LENGTHS);
  into[11] = binOf(indent, INDENTATIONS);
  into[12] = FIRST_CHARACTERS.indexOf(text.charAt(indent)) + 1;
  into[13] = binOf(line.names, NAMES);
  into[14] = binOf(line.sourceLines, SOURCE_LINES);
  into[15] = binOf(setting.sources - 1 - line.source, SOURCES_SINCE);
}

/** The bins for changes of a group, files touched since and the age of its last touch. */
function findGroupBins(group: Group | undefined, setting: Setting, into: Uint16Array): void {
  const rank = group === undefined ? undefined : setting.rank.get(group);
  into[0] = group?.kind === 'file' ? binOf(group.changes, CHANGES) : 7;
  into[1] = rank === undefined ? 8 : binOf(rank, RANKS);
  into[2] = age(group === undefined ? -1 : (setting.lastTouched.get(group) ?? -1), setting);
}

function removalBin(removedAt: number, lastAt: number): number {
  if (removedAt < 0) return 0;
  return lastAt > removedAt ? 1 : 2;
}

/** What tells whether a later edit will quote a line. */
export const lineTable: FeatureTable<Line, Setting> = layOut(
  [
    cross(origin, lineAge),
    cross(changes, rankOfFile),
    cross(distance, rankOfFile),
    cross(written, distance),
    cross(since, distance),
    cross(distance, sourceSize),
    cross(since, rankOfFile),
    ...others,
  ],
  [origin, lineAge, changes, rankOfFile, distance, written, ...others, sourceSize, since],
  findBins,
);
