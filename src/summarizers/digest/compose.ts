import type { SummaryRequest } from '../../core/summarizer.ts';
import { type BinModel, chanceOf, type FeatureTable, weightIndices } from './bins.ts';
import { entityTable } from './entity-features.ts';
import { indexLines } from './index-lines.ts';
import { lineCost } from './line-cost.ts';
import { lineTable } from './line-features.ts';
import type { LineIndex } from './line-index.ts';
import type { Worth } from './line-offers.ts';
import { readDigest } from './read-digest.ts';
import { commonRoot, headingOf, renderDigest } from './render.ts';
import { SHAPE } from './scan-line.ts';
import { LineSelector, type Selection } from './select-lines.ts';
import { type Setting, settingOf } from './setting.ts';
import { collectSources, type Group, ORIGIN } from './sources.ts';

/** What a digest is guided by. */
export interface DigestModels {
  /** The chance that a later call names an entity. */
  readonly entity: BinModel;
  /** The chance that a later edit quotes a line. */
  readonly line: BinModel;
}

/** How much showing the lines of later edits is worth beside showing the names of later calls. */
const LINES_WORTH = 1.9;
/** To bind a name is worth so many times as much as to show it. */
const BINDING_WORTH = 4.5;
/** Chance of names and small numbers in prose, which the fit does not know: they matter where nobody works on files. */
const WEAK_CHANCE = { withFiles: 0, withoutFiles: 0.02 };
/** So many lines are expected to be quoted even where none looks like it. */
const EXPECTED_LINES = 3;
/** What an earlier digest chose was worth it once. */
const CARRIED = 1.5;
const SHORTEST_QUOTE = 20;
/** Shares of the budget that what is shown in any case may take. */
const SHARES = {
  demands: 0.6,
  habits: 0.06,
  changedFiles: 0.15,
  failures: 0.02,
  userLines: 0.03,
  plan: 0.02,
};
/** A longer text of the user's is pasted. */
const TYPED_LINES = 40;
const HEADING_TOKENS = 35;
/** Costs of lines are estimates: what is left in the end is spent in a few more steps. */
const FIRST_SHARE = 0.93;
const ATTEMPTS = 3;
const CLOSE_ENOUGH = 0.985;
const CAUTION = 0.9;

/** Reads all that a request tells: its messages, what stays around them, and an earlier digest. */
export function indexRequest({ messages, conversation, previousSummary }: SummaryRequest): LineIndex {
  const covered = new Set(messages);
  const isPart = conversation.messages.some((message) => covered.has(message));
  const all = isPart ? conversation.messages : messages;
  const earlier = previousSummary === undefined ? undefined : readDigest(previousSummary);
  return indexLines(collectSources(all, (message) => !covered.has(message), earlier));
}

/** Writes the digest of a request, within its tokens as far as they allow one at all. */
export function composeDigest(request: SummaryRequest, models: DigestModels): string {
  const { estimator, maximumTokens } = request;
  const full = indexRequest(request);
  const index = { ...full, ...fixedLines(full, maximumTokens) };
  const root = commonRoot([...index.lastTouched.keys()].map(({ title }) => title));
  const worth = worthOf(index, models, root);
  const linesOf = groupLines(index);
  const fixed = [root, ...index.demands, ...index.habits].reduce(
    (sum, line) => sum + lineCost(line),
    HEADING_TOKENS,
  );
  const budget = maximumTokens - fixed;
  const selector = new LineSelector(index, worth, budget * FIRST_SHARE);
  takeFixed(selector, index, budget);
  selector.fill(linesOf);
  let text = renderDigest(index, selector, root);
  let tokens = estimator.countText(text);
  for (let attempt = 1; attempt <= ATTEMPTS && tokens < maximumTokens * CLOSE_ENOUGH; attempt++) {
    selector.tokensLeft = (maximumTokens - tokens) * CAUTION;
    selector.goOn(linesOf, attempt === ATTEMPTS);
    text = renderDigest(index, selector, root);
    tokens = estimator.countText(text);
  }
  return tokens <= maximumTokens ? text : shortened(index, selector, { root, request });
}

function groupLines({ lines }: LineIndex): ReadonlyMap<Group, readonly number[]> {
  const groups = new Map<Group, number[]>();
  for (const [id, { group }] of lines.entries()) {
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [id]);
    else known.push(id);
  }
  return groups;
}

/** Demands and habits as far as their shares go. */
function fixedLines(index: LineIndex, maximumTokens: number): Pick<LineIndex, 'demands' | 'habits'> {
  const within = (lines: readonly string[], share: number) => {
    let left = maximumTokens * share;
    return lines.filter((line) => {
      left -= lineCost(line);
      return left >= 0;
    });
  };
  return { demands: within(index.demands, SHARES.demands), habits: within(index.habits, SHARES.habits) };
}

/** What is shown whatever it is worth: changed files, the newest failures, what the user wrote last, the plan. */
function takeFixed(selector: LineSelector, index: LineIndex, budget: number): void {
  const within = (share: number) => {
    const floor = selector.tokensLeft - budget * share;
    return () => selector.tokensLeft > floor;
  };
  const hasRoomForFiles = within(SHARES.changedFiles);
  const changed = [...index.lastTouched.keys()].filter(({ changes }) => changes > 0);
  for (const group of changed.sort((left, right) => right.round - left.round)) {
    if (hasRoomForFiles()) selector.openGroup(group);
  }
  const hasRoomForFailures = within(SHARES.failures);
  const failed = [...index.titles.keys()].filter(({ isFailed }) => isFailed);
  for (const group of failed.toReversed()) if (hasRoomForFailures()) selector.openGroup(group);
  const hasRoomForPlan = within(SHARES.plan);
  for (const id of planLines(index)) if (hasRoomForPlan()) selector.take(id);
  const hasRoomForUser = within(SHARES.userLines);
  const demands = new Set(index.demands);
  for (const id of typedLines(index)) {
    if (demands.has(index.lines[id]?.text.trim() ?? '')) selector.leaveOut(id);
    else if (hasRoomForUser()) selector.take(id);
  }
}

/** The lines of the newest plan. */
function planLines({ lines, sources }: LineIndex): readonly number[] {
  const plan = sources.findLast(({ origin, isKept }) => origin === ORIGIN.plan && !isKept)?.group;
  return plan === undefined ? [] : [...lines.keys()].filter((id) => lines[id]?.group === plan);
}

/** The lines that the user typed, the newest first. */
function typedLines({ lines }: LineIndex): readonly number[] {
  const typed: number[] = [];
  for (const [id, { origin, isKept, sourceLines }] of lines.entries()) {
    if (origin === ORIGIN.user && !isKept && sourceLines <= TYPED_LINES) typed.push(id);
  }
  return typed.reverse();
}

function worthOf(index: LineIndex, models: DigestModels, root: string): Worth {
  const setting = settingOf(index);
  return {
    entity: namesWorth(index, chances(index.entities, { table: entityTable, model: models.entity, setting })),
    line: linesWorth(index, chances(index.lines, { table: lineTable, model: models.line, setting })),
    binding: BINDING_WORTH,
    cost: costsOf(index),
    headingCost: remembered((group) => {
      const heading = headingOf(group, root);
      return heading === '' ? 1 : lineCost(heading);
    }),
  };
}

function costsOf({ lines }: LineIndex): Float64Array {
  const costs = new Float64Array(lines.length);
  for (const [id, { text }] of lines.entries()) costs[id] = lineCost(text);
  return costs;
}

/** What each name is worth: its share of all that later calls are expected to name. */
function namesWorth({ entities, lastTouched }: LineIndex, chance: Float64Array): Float64Array {
  const weak = lastTouched.size > 0 ? WEAK_CHANCE.withFiles : WEAK_CHANCE.withoutFiles;
  let expected = 0;
  for (const [id, { shape, isKept, isCarried }] of entities.entries()) {
    const own = shape === SHAPE.name || shape === SHAPE.amount ? weak : (chance[id] ?? 0);
    chance[id] = isCarried ? Math.min(1, own * CARRIED) : own;
    if (!isKept) expected += chance[id] ?? 0;
  }
  return chance.map((own) => own / (2 * Math.max(expected, 1e-9)));
}

/** What each line is worth: its share of all that later edits are expected to quote. */
function linesWorth({ lines }: LineIndex, chance: Float64Array): Float64Array {
  let expected = EXPECTED_LINES;
  for (const [id, { text, indent, isKept, isCarried }] of lines.entries()) {
    const own = isKept || text.length - indent < SHORTEST_QUOTE ? 0 : (chance[id] ?? 0);
    chance[id] = isCarried ? Math.min(1, own * CARRIED) : own;
    expected += chance[id] ?? 0;
  }
  return chance.map((own) => (own * LINES_WORTH) / expected);
}

function remembered(compute: (group: Group) => number): (group: Group) => number {
  const known = new Map<Group, number>();
  return (group) => {
    const before = known.get(group);
    if (before !== undefined) return before;
    const found = compute(group);
    known.set(group, found);
    return found;
  };
}

/** The chance of every item of a list. */
function chances<Item>(
  items: readonly Item[],
  { table, model, setting }: { table: FeatureTable<Item, Setting>; model: BinModel; setting: Setting },
): Float64Array {
  const found = new Float64Array(items.length);
  const indices = new Uint16Array(table.features.length);
  for (const [id, item] of items.entries()) {
    weightIndices(table, item, setting, indices);
    found[id] = chanceOf(model, indices);
  }
  return found;
}

/** The digest without the lines that were chosen last, until it is within its tokens. */
function shortened(
  index: LineIndex,
  selection: Selection,
  { root, request }: { root: string; request: SummaryRequest },
): string {
  const chosen = [...selection.lines];
  for (;;) {
    const groups = new Set([...selection.groups].filter(({ changes }) => changes > 0 && chosen.length > 0));
    for (const [id] of chosen) {
      const group = index.lines[id]?.group;
      if (group !== undefined) groups.add(group);
    }
    const text = renderDigest(index, { lines: new Map(chosen), groups }, root);
    const tokens = request.estimator.countText(text);
    if (tokens <= request.maximumTokens || chosen.length === 0) return text;
    chosen.length -= Math.max(1, Math.floor((chosen.length * (tokens - request.maximumTokens)) / tokens));
  }
}
