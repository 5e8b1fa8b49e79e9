import { binOf, type Feature, layOut } from './bins.ts';
import { type Entity, folderOf } from './line-index.ts';
import { SHAPE } from './scan-line.ts';
import { AGES, age, cross, type Setting } from './setting.ts';
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
function shownBy({ origins }: Entity, wanted: readonly number[]): number {
  let bits = 0;
  for (let bit = 0; bit < wanted.length; bit++) {
    if ((origins & (1 << (wanted[bit] ?? 0))) !== 0) bits |= 1 << bit;
  }
  return bits;
}

const shape: Feature<Entity, Setting> = { name: 'shape', size: SHAPES, bin: (entity) => entity.shape };
const lastShown: Feature<Entity, Setting> = {
  name: 'age of the last mention',
  size: AGES,
  bin: ({ lastAt }, setting) => age(lastAt, setting),
};
const lastUsed: Feature<Entity, Setting> = {
  name: 'age of the last use in a call',
  size: AGES,
  bin: ({ lastUsedAt }, setting) => age(lastUsedAt, setting),
};
const sources: Feature<Entity, Setting> = {
  name: 'sources',
  size: COUNTS.length + 1,
  bin: (entity) => binOf(entity.sources, COUNTS),
};
const used: Feature<Entity, Setting> = {
  name: 'uses in calls',
  size: 8,
  bin: (entity) => binOf(entity.used, USES),
};
const fileRank: Feature<Entity, Setting> = {
  name: 'files touched since its file',
  size: 9,
  bin: ({ file }, { rank }) => (file === undefined ? 8 : binOf(rank.get(file) ?? 99, RANKS)),
};
const fileChanges: Feature<Entity, Setting> = {
  name: 'changes of its file',
  size: 6,
  bin: ({ file }) => (file === undefined ? 5 : binOf(file.changes, CHANGES)),
};

const length: Feature<Entity, Setting> = {
  name: 'length',
  size: 9,
  bin: ({ text }) => binOf(text.length, LENGTHS),
};
const warmth: Feature<Entity, Setting> = {
  name: 'share of lines that name something that stays',
  size: 7,
  bin: (entity) => (entity.warm === 0 ? 0 : 1 + binOf(entity.warm / entity.distinct, WARM_SHARES)),
};
const focus: Feature<Entity, Setting> = {
  name: 'share of its name that the newest messages talk of',
  size: 7,
  bin: (entity) => binOf(entity.focus, SHARES),
};
const asked: Feature<Entity, Setting> = {
  name: 'share of its name that the user wrote of',
  size: 7,
  bin: (entity) => binOf(entity.asked, SHARES),
};
const results: Feature<Entity, Setting> = {
  name: 'what shows it',
  size: 16,
  bin: (entity) => shownBy(entity, SHOWS),
};
const folderFiles: Feature<Entity, Setting> = {
  name: 'touched files of its folder',
  size: 7,
  bin: ({ text, shape: of }, { folders }) =>
    of === SHAPE.path || of === SHAPE.folder ? binOf(folders.get(folderOf(text))?.files ?? 0, FILES) : 6,
};
const folderAge: Feature<Entity, Setting> = {
  name: 'age of the last touch of its folder',
  size: AGES,
  bin: ({ text, shape: of }, setting) =>
    of === SHAPE.path || of === SHAPE.folder
      ? age(setting.folders.get(folderOf(text))?.lastAt ?? -1, setting)
      : AGES - 1,
};

/** What tells whether a later call will name an entity. */
export const entityTable = layOut<Entity, Setting>([
  cross(shape, lastShown),
  cross(shape, lastUsed),
  cross(shape, sources),
  cross(lastUsed, sources),
  cross(used, lastShown),
  cross(fileRank, fileChanges),
  cross(shape, fileRank),
  cross(shape, fileChanges),
  { name: 'age of the first mention', size: AGES, bin: ({ firstAt }, setting) => age(firstAt, setting) },
  {
    name: 'rounds since the last mention',
    size: ROUNDS_AGO.length + 1,
    bin: ({ lastRound }, { rounds }) => binOf(rounds - lastRound, ROUNDS_AGO),
  },
  { name: 'lines', size: COUNTS.length + 1, bin: ({ count }) => binOf(count, COUNTS) },
  {
    name: 'lines for each source',
    size: 7,
    bin: (entity) => binOf(entity.count / entity.sources, LINES_A_SOURCE),
  },
  {
    name: 'who says it',
    size: 16,
    bin: (entity) => shownBy(entity, SAYS),
  },
  {
    name: 'what a call does with it',
    size: 8,
    bin: (entity) => shownBy(entity, DOES),
  },
  { name: 'declarations', size: 4, bin: ({ declared }) => binOf(declared, DECLARATIONS) },
  { name: 'failures', size: 4, bin: ({ failed }) => binOf(failed, FAILURES) },
  {
    name: 'share in changed files',
    size: 6,
    bin: ({ inChanged, count }) => binOf(inChanged / count, CHANGED_SHARES),
  },
  cross(shape, length),
  cross(lastShown, warmth),
  cross(lastShown, focus),
  cross(shape, focus),
  cross(asked, focus),
  cross(lastShown, results),
  cross(folderFiles, folderAge),
  cross(folderFiles, lastUsed),
  {
    name: 'names of the text around it',
    size: 8,
    bin: ({ crowd, count }) => binOf(crowd / count, CROWDS),
  },
]);
