import { type BinModel, chanceOf, type FeatureTable, weightIndices } from './bins.ts';
import { entityTable } from './entity-features.ts';
import { Entity, Line } from './index-views.ts';
import { lineCost } from './line-cost.ts';
import { lineTable } from './line-features.ts';
import { ENTITY, FLAG, LINE, type LineIndex } from './line-index.ts';
import type { Worth } from './line-offers.ts';
import { headingOf } from './render.ts';
import { SHAPE } from './scan-line.ts';
import { type Setting, settingOf } from './setting.ts';
import { ORIGIN } from './sources.ts';

/** What a digest is guided by. */
export interface DigestModels {
  /** The chance that a later call names an entity. */
  readonly entity: BinModel;
  /** The chance that a later edit quotes a line. */
  readonly line: BinModel;
}

/** With those who found it, which are kept as long as the digest is. */
export type JudgedWorth = Worth & { readonly judges: unknown };

/**
 * How much showing the lines of later edits is worth beside showing the names of later calls, in a digest of a small share of
 * its material and in one of a larger share: there is no room for both in the smallest, and names say more for less.
 */
const LINES_WORTH = [
  { share: 0.035, worth: 1.8 },
  { share: 0.07, worth: 3 },
] as const;
/** To bind a name is worth so many times as much as to show it. */
const BINDING_WORTH = 6;
/**
 * Where nobody works on files or in a shell, as in a dialogue of a service, the fit says little: values from results are what later calls
 * are made of, ids first, and the keys around them bind them well enough.
 */
const WITHOUT_FILES = { id: 0.4, number: 0.1, weak: 0.04, binding: 0.1 };
/** So many lines are expected to be quoted even where none looks like it. */
const EXPECTED_LINES = 3;
/** What an earlier digest chose was worth it once. */
const CARRIED = 1.5;
const SHORTEST_QUOTE = 20;

/** The worth of lines in a digest of such a share, in between what is set for two of them. */
function linesWorthAt(share: number): number {
  const [small, large] = LINES_WORTH;
  const way = Math.min(1, Math.max(0, (share - small.share) / (large.share - small.share)));
  return small.worth + way * (large.worth - small.worth);
}

/** What everything is worth in a digest that takes this share of its material. */
export function worthOf(
  index: LineIndex,
  models: DigestModels,
  { root, share }: { readonly root: string; readonly share: number },
): JudgedWorth {
  const setting = settingOf(index);
  const judges = {
    entity: new Judge(new Entity(index, 0), { table: entityTable, model: models.entity, setting }),
    line: new Judge(new Line(index, 0), { table: lineTable, model: models.line, setting }),
  };
  return {
    judges,
    entity: namesWorth(index, judges.entity),
    line: linesWorth(index, judges.line, hasFiles(index) ? linesWorthAt(share) : 0),
    binding: hasFiles(index) ? BINDING_WORTH : WITHOUT_FILES.binding,
    heading: Float64Array.from(index.groups, (group) => {
      const heading = headingOf(group, root);
      return heading === '' ? 1 : lineCost(heading);
    }),
  };
}

/** The least chance of a later use by shape, as an array: it is looked up for every name. */
const leastWithFiles: readonly number[] = [];
const leastWithoutFiles: readonly number[] = Object.values(SHAPE).map((shape) => {
  if (shape === SHAPE.code || shape === SHAPE.snake) return WITHOUT_FILES.id;
  if (shape === SHAPE.number) return WITHOUT_FILES.number;
  return shape === SHAPE.name || shape === SHAPE.amount ? WITHOUT_FILES.weak : 0;
});

/** Whether somebody works on files, or in a shell. */
export function hasFiles({ lastTouched, sources }: LineIndex): boolean {
  return lastTouched.size > 0 || sources.some(({ origin }) => origin === ORIGIN.shell);
}

/** What each name is worth: its share of all that later calls are expected to name. */
function namesWorth(index: LineIndex, judge: Judge<Entity>): Float64Array {
  const { shapes, records } = index.entities;
  const worth = new Float64Array(shapes.length);
  const least = hasFiles(index) ? leastWithFiles : leastWithoutFiles;
  let expected = 0;
  for (let id = 0; id < worth.length; id++) {
    const shape = shapes[id] ?? SHAPE.name;
    // The fit does not know names and small numbers in prose.
    const fitted = shape === SHAPE.name || shape === SHAPE.amount ? 0 : judge.chance(id);
    const own = Math.max(fitted, least[shape] ?? 0);
    const flags = records.get(id, ENTITY.flags);
    const chance = (flags & FLAG.carried) === 0 ? own : Math.min(1, own * CARRIED);
    worth[id] = chance;
    if ((flags & FLAG.kept) === 0) expected += chance;
  }
  return scaled(worth, 1, 2 * Math.max(expected, 1e-9));
}

/** What each line is worth: its share of all that later edits are expected to quote. */
function linesWorth({ lines }: LineIndex, judge: Judge<Line>, times: number): Float64Array {
  const worth = new Float64Array(lines.texts.length);
  let expected = EXPECTED_LINES;
  for (let id = 0; id < worth.length; id++) {
    const flags = lines.records.get(id, LINE.flags);
    if ((flags & FLAG.kept) !== 0 || lines.contentLength(id) < SHORTEST_QUOTE) continue;
    const own = judge.chance(id);
    const chance = (flags & FLAG.carried) === 0 ? own : Math.min(1, own * CARRIED);
    worth[id] = chance;
    expected += chance;
  }
  return scaled(worth, times, expected);
}

function scaled(values: Float64Array, times: number, by: number): Float64Array {
  for (let id = 0; id < values.length; id++) values[id] = ((values[id] ?? 0) * times) / by;
  return values;
}

/** Gives items the chance that a model sees for them. */
class Judge<Item extends { id: number }> {
  private readonly item: Item;
  private readonly indices: Uint16Array;
  private readonly table: FeatureTable<Item, Setting>;
  private readonly model: BinModel;
  private readonly setting: Setting;

  constructor(
    item: Item,
    { table, model, setting }: { table: FeatureTable<Item, Setting>; model: BinModel; setting: Setting },
  ) {
    this.item = item;
    this.indices = new Uint16Array(table.features.length);
    this.table = table;
    this.model = model;
    this.setting = setting;
  }

  chance(id: number): number {
    this.item.id = id;
    weightIndices(this.table, this.item, this.setting, this.indices);
    return chanceOf(this.model, this.indices);
  }
}
