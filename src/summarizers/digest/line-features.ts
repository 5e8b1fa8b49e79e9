import { binOf, type Feature, layOut } from './bins.ts';
import type { Line } from './line-index.ts';
import { AGES, age, cross, type Setting } from './setting.ts';

const CHANGES = [0, 1, 2, 4, 8, 16];
const RANKS = [0, 1, 2, 3, 5, 8, 13];
const DISTANCES = [0, 1, 3, 6, 12, 25, 60, 1000];
const MENTIONS = [1, 2, 3, 4, 6, 10];
const READINGS = [0, 1, 2, 3, 5];
const LENGTHS = [19, 25, 32, 40, 50, 65, 85, 120];
const INDENTATIONS = [0, 1, 2, 4, 8, 12, 20];
const NAMES = [0, 1, 2, 3, 4, 6];
const SOURCE_LINES = [5, 15, 40, 80, 150, 300, 800];

const FIRST_CHARACTERS = '/#*}@<-"[';

const origin: Feature<Line, Setting> = { name: 'origin', size: 11, bin: (line) => line.origin };
const lineAge: Feature<Line, Setting> = {
  name: 'age of the last mention',
  size: AGES,
  bin: ({ lastAt }, setting) => age(lastAt, setting),
};
const changes: Feature<Line, Setting> = {
  name: 'changes of its file',
  size: 8,
  bin: ({ group }) => (group.kind === 'file' ? binOf(group.changes, CHANGES) : 7),
};
const rankOfFile: Feature<Line, Setting> = {
  name: 'files touched since its file',
  size: 9,
  bin: ({ group }, { rank }) => (rank.has(group) ? binOf(rank.get(group) ?? 0, RANKS) : 8),
};
const distance: Feature<Line, Setting> = {
  name: 'distance from a change',
  size: 9,
  bin: ({ editDistance }) => binOf(editDistance, DISTANCES),
};
const written: Feature<Line, Setting> = {
  name: 'age of its writing',
  size: AGES,
  bin: ({ writtenAt }, setting) => age(writtenAt, setting),
};

/** What tells whether a later edit will quote a line. */
export const lineTable = layOut<Line, Setting>([
  cross(origin, lineAge),
  cross(changes, rankOfFile),
  cross(distance, rankOfFile),
  cross(written, distance),
  {
    name: 'age of the last touch of its file',
    size: AGES,
    bin: ({ group }, setting) => age(setting.lastTouched.get(group) ?? -1, setting),
  },
  {
    name: 'removal',
    size: 3,
    bin: ({ removedAt, lastAt }) => (removedAt < 0 ? 0 : lastAt > removedAt ? 1 : 2),
  },
  { name: 'mentions', size: 7, bin: ({ count }) => binOf(count, MENTIONS) },
  { name: 'readings', size: 6, bin: ({ reads }) => binOf(reads, READINGS) },
  {
    name: 'length',
    size: 9,
    bin: ({ text, indent }) => binOf(text.length - indent, LENGTHS),
  },
  { name: 'indentation', size: 8, bin: ({ indent }) => binOf(indent, INDENTATIONS) },
  {
    name: 'first character',
    size: FIRST_CHARACTERS.length + 1,
    bin: ({ text, indent }) => FIRST_CHARACTERS.indexOf(text.charAt(indent)) + 1,
  },
  { name: 'names', size: 7, bin: ({ entities }) => binOf(entities.length, NAMES) },
  {
    name: 'size of its source',
    size: 8,
    bin: ({ sourceLines }) => binOf(sourceLines, SOURCE_LINES),
  },
]);
