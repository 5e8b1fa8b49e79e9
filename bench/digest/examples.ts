import type { LabCase } from '../../src/lab/lab-case.ts';
import { type FeatureTable, weightIndices } from '../../src/summarizers/digest/bins.ts';
import { indexRequest } from '../../src/summarizers/digest/compose.ts';
import { entityTable } from '../../src/summarizers/digest/entity-features.ts';
import { lineTable } from '../../src/summarizers/digest/line-features.ts';
import { SHAPE } from '../../src/summarizers/digest/scan-line.ts';
import { type Setting, settingOf } from '../../src/summarizers/digest/setting.ts';
import { keepAround } from './keep.ts';
import type { Examples } from './train.ts';

/** What one cut teaches. */
export interface Lesson {
  readonly entities: Examples;
  readonly lines: Examples;
}

/**
 * Budgets that leave different things around the digest while it is fitted: of a large one the newest rounds stay as they
 * are, of a small one nothing does, and the digest has to know what they are worth.
 */
export const BUDGET_SHARES = [0.2, 0.03] as const;
/** One of so many lines that no edit quotes is looked at, and counts for all of them. */
const LINE_SAMPLE = 4;
const SHORTEST_QUOTE = 20;
const FEWEST_NEEDS = 3;
const SCALE = 10;

/** What the entities and lines of a cut look like under a budget, and which of them its future needed. */
export function lessonOf({ cut, needs }: LabCase, budgetShare: number, casesOfSession: number): Lesson {
  const index = indexRequest(keepAround(cut, cut.prefixTokens * budgetShare).request);
  const setting = settingOf(index);
  const names = new Set(needs.entities.map(({ name }) => name));
  const entities = index.entities
    .filter(({ isKept, shape }) => !isKept && shape !== SHAPE.name && shape !== SHAPE.amount)
    .map((item) => ({ item, isNeeded: names.has(item.text), count: 1 }));
  const quotes = new Set(needs.anchors.map(({ line }) => line));
  const lines = index.lines
    .filter(({ isKept, text, indent }) => !isKept && text.length - indent >= SHORTEST_QUOTE)
    .map((item) => ({
      item,
      isNeeded: quotes.has(item.text),
      count: quotes.has(item.text) ? 1 : LINE_SAMPLE,
    }))
    .filter(({ isNeeded }, number) => isNeeded || number % LINE_SAMPLE === 0);
  return {
    entities: examplesOf(entities, entityTable, { setting, casesOfSession }),
    lines: examplesOf(lines, lineTable, { setting, casesOfSession }),
  };
}

interface Labelled<Item> {
  readonly item: Item;
  readonly isNeeded: boolean;
  readonly count: number;
}

/** Sessions with many cuts and cuts with many needs count for more, but not in proportion. */
function examplesOf<Item>(
  items: readonly Labelled<Item>[],
  table: FeatureTable<Item, Setting>,
  { setting, casesOfSession }: { setting: Setting; casesOfSession: number },
): Examples {
  const features = table.features.length;
  const indices = new Uint16Array(items.length * features);
  for (const [number, { item }] of items.entries()) {
    weightIndices(table, item, setting, indices.subarray(number * features, (number + 1) * features));
  }
  const needed = items.filter(({ isNeeded }) => isNeeded).length;
  const scale = SCALE / Math.sqrt(Math.max(FEWEST_NEEDS, needed) * casesOfSession);
  return {
    features,
    indices,
    labels: Uint8Array.from(items, ({ isNeeded }) => (isNeeded ? 1 : 0)),
    weights: Float64Array.from(items, ({ count }) => count * scale),
  };
}
