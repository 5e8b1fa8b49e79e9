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
import { valueChances } from './value-chances.ts';

/** What a digest is guided by. */
export interface DigestModels {
  /** The chance that a later call names an entity. */
  readonly entity: BinModel;
  /** The chance that a later edit quotes a line. */
  readonly line: BinModel;
}

/** With those who found it, which are kept as long as the digest is. */
export type JudgedWorth = Worth & { readonly judges: unknown };

/** What is worth something beside showing the names of later calls. */
interface Worths {
  /** To show the lines of later edits. */
  readonly lines: number;
  /** To bind a name is worth so many times as much as to show it. */
  readonly binding: number;
}

/**
 * By the share of its material that a digest takes. A small share tells few names, so that they have to say what they are.
 * From a tenth on names are nearly all that there is to gain, until most of them are told; then it is lines, until most of
 * those are.
 */
const WORTHS = [
  { share: 0.035, lines: 4, binding: 10 },
  { share: 0.06, lines: 2, binding: 4 },
  { share: 0.1, lines: 2, binding: 4 },
  { share: 0.2, lines: 3.5, binding: 4 },
  { share: 0.3, lines: 2.4, binding: 4 },
] as const;
/**
 * The fewer tokens a small share is, the fewer names it tells whatever they are worth, and the less of what was read or written
 * last has room in the messages around it, which the next step needs: below so many tokens lines are worth more, in inverse
 * proportion and up to so many times as much.
 */
const FEW = { share: 0.1, tokens: 4000, times: 4 };
/** Where nobody works on files or in a shell, the keys around values bind them well enough. */
const BINDING_OF_VALUES = 0.1;
/** There no edit will quote a line. What the user decided is worth something in the words that say it, an answer a tenth of that. */
const WORDS = 0.03;
const ANSWERS = 0.1;
/** So many lines are expected to be quoted even where none looks like it. */
const EXPECTED_LINES = 3;
/** What an earlier digest chose was worth it once. */
const CARRIED = 1.5;
const SHORTEST_QUOTE = 20;

/** How large a digest is: its tokens, and their share of its material. */
interface Size {
  readonly tokens: number;
  readonly share: number;
}

/** The worths in a digest of such a size, in between what is set for two shares. */
function worthsAt({ tokens, share }: Size): Worths {
  const few = Math.min(FEW.times, Math.max(1, FEW.tokens / tokens));
  const linesAt = (set: (typeof WORTHS)[number]) => (set.share < FEW.share ? set.lines * few : set.lines);
  const next = WORTHS.findIndex((set) => set.share > share);
  // Behind the last one there is none, and `at` gives the last.
  const right = WORTHS.at(next) ?? WORTHS[0];
  const left = WORTHS[next - 1] ?? right;
  const way = left === right ? 0 : (share - left.share) / (right.share - left.share);
  return {
    lines: linesAt(left) + way * (linesAt(right) - linesAt(left)),
    binding: left.binding + way * (right.binding - left.binding),
  };
}

/** What everything is worth in a digest of this size. */
export function worthOf(
  index: LineIndex,
  models: DigestModels,
  { root, ...size }: Size & { readonly root: string },
): JudgedWorth {
  const setting = settingOf(index);
  const judges = {
    entity: new Judge(new Entity(index, 0), { table: entityTable, model: models.entity, setting }),
    line: new Judge(new Line(index, 0), { table: lineTable, model: models.line, setting }),
  };
  const worths = hasFiles(index) ? worthsAt(size) : undefined;
  return {
    judges,
    entity: namesWorth(index, judges.entity),
    line: worths === undefined ? wordsWorth(index) : linesWorth(index, judges.line, worths.lines),
    binding: worths?.binding ?? BINDING_OF_VALUES,
    heading: Float64Array.from(index.groups, (group) => {
      const heading = headingOf(group, root);
      return heading === '' ? 1 : lineCost(heading);
    }),
  };
}

/** Whether somebody works on files, or in a shell. */
export function hasFiles({ lastTouched, sources }: LineIndex): boolean {
  return lastTouched.size > 0 || sources.some(({ origin }) => origin === ORIGIN.shell);
}

/** The fit does not know names and small numbers in prose. */
function fittedChance(shape: number | undefined, judge: Judge<Entity>, id: number): number {
  return shape === SHAPE.name || shape === SHAPE.amount ? 0 : judge.chance(id);
}

/** What each name is worth: its share of all that later calls are expected to name. */
function namesWorth(index: LineIndex, judge: Judge<Entity>): Float64Array {
  const { shapes, records } = index.entities;
  const worth = new Float64Array(shapes.length);
  const values = hasFiles(index) ? undefined : valueChances(index, (id) => judge.chance(id));
  let expected = 0;
  for (let id = 0; id < worth.length; id++) {
    const own = values === undefined ? fittedChance(shapes[id], judge, id) : (values[id] ?? 0);
    const flags = records.get(id, ENTITY.flags);
    const chance = (flags & FLAG.carried) === 0 ? own : Math.min(1, own * CARRIED);
    worth[id] = chance;
    if ((flags & FLAG.kept) === 0) expected += chance;
  }
  return scaled(worth, 1, 2 * Math.max(expected, 1e-9));
}

/** What each line of a dialogue is worth beside its values: the user's words have to stay rather than the answers to them. */
function wordsWorth({ lines: { records, costs } }: LineIndex): Float64Array {
  let all = 1;
  const worth = Float64Array.from(costs, (cost, id) => {
    const origin = records.get(id, LINE.origin);
    const isKept = (records.get(id, LINE.flags) & FLAG.kept) !== 0;
    if (isKept || (origin !== ORIGIN.user && origin !== ORIGIN.said)) return 0;
    const own = origin === ORIGIN.user ? cost : cost * ANSWERS;
    all += own;
    return own;
  });
  return scaled(worth, WORDS, all);
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
