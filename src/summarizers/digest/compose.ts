import type { SummaryRequest } from '../../core/summarizer.ts';
import { type BinModel, chanceOf, type FeatureTable, weightIndices } from './bins.ts';
import { entityTable } from './entity-features.ts';
import { indexLines } from './index-lines.ts';
import { Entity, entitiesOf, Line, linesOf } from './index-views.ts';
import { lineCost } from './line-cost.ts';
import { lineTable } from './line-features.ts';
import { ENTITY, FLAG, LINE, type LineIndex } from './line-index.ts';
import type { Worth } from './line-offers.ts';
import { readDigest } from './read-digest.ts';
import { commonRoot, headingOf, renderDigest } from './render.ts';
import { SHAPE } from './scan-line.ts';
import { type GroupLines, LineSelector, type Selection } from './select-lines.ts';
import { type Setting, settingOf } from './setting.ts';
import { collectSources, type Group, type Material, ORIGIN } from './sources.ts';

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

/** Everything that a request tells, with its lines and entities as objects. */
export function indexRequest(request: SummaryRequest): Omit<LineIndex, 'lines' | 'entities'> & {
  readonly lines: readonly Line[];
  readonly entities: readonly Entity[];
} {
  const index = readRequest(request);
  return { ...index, lines: linesOf(index), entities: entitiesOf(index) };
}

/** Reads all that a request tells: its messages, what stays around them, and an earlier digest. */
function readRequest({ messages, conversation, previousSummary }: SummaryRequest): LineIndex {
  const covered = new Set(messages);
  const isPart = conversation.messages.some((message) => covered.has(message));
  const all = isPart ? conversation.messages : messages;
  const earlier = previousSummary === undefined ? undefined : readDigest(previousSummary);
  return indexLines(collectSources(all, (message) => !covered.has(message), earlier));
}

/** A digest that is being written. */
interface Draft {
  readonly index: LineIndex;
  readonly root: string;
  readonly grouped: GroupLines;
  readonly selector: LineSelector;
  readonly worth: Worth & { readonly judges: unknown };
}

/**
 * The draft of a digest of next to nothing. It is kept because the code that was compiled for such objects would not survive
 * a garbage collection between two digests, and the next one would take several times as long.
 */
const resting: { draft?: Draft } = {};
const SMALL_TOKENS = 1000;
const SMALL_MATERIAL: Material = {
  sources: (['file', 'call'] as const).map((kind) => ({
    origin: ORIGIN.read,
    group: { kind, title: 'src/some/file.ts', round: 1, isFailed: false, changes: 0, status: '' },
    lines: ['The function readSome of src/some/file.ts has 20 lines, as someName says.', 'const some = 1;'],
    isError: false,
    round: 1,
    isKept: false,
  })),
  rounds: 1,
  earlierCharacters: 0,
  demands: [],
  habits: [],
};

/** Writes the digest of a request, within its tokens as far as they allow one at all. */
export function composeDigest(request: SummaryRequest, models: DigestModels): string {
  const { estimator, maximumTokens } = request;
  resting.draft ??= draftOf(indexLines(SMALL_MATERIAL), models, SMALL_TOKENS);
  const { index, root, grouped, selector } = draftOf(readRequest(request), models, maximumTokens);
  let text = renderDigest(index, selector, root);
  let tokens = estimator.countText(text);
  for (let attempt = 1; attempt <= ATTEMPTS && tokens < maximumTokens * CLOSE_ENOUGH; attempt++) {
    selector.tokensLeft = (maximumTokens - tokens) * CAUTION;
    selector.goOn(grouped, attempt === ATTEMPTS);
    text = renderDigest(index, selector, root);
    tokens = estimator.countText(text);
  }
  return tokens <= maximumTokens ? text : shortened(index, selector, { root, request });
}

/** Chooses what fits into so many tokens by a first estimate. */
function draftOf(full: LineIndex, models: DigestModels, maximumTokens: number): Draft {
  const index = { ...full, ...fixedLines(full, maximumTokens) };
  const root = commonRoot([...index.lastTouched.keys()].map(({ title }) => title));
  const worth = worthOf(index, models, root);
  const grouped = groupLines(index);
  const fixed = [root, ...index.demands, ...index.habits].reduce(
    (sum, line) => sum + lineCost(line),
    HEADING_TOKENS,
  );
  const budget = maximumTokens - fixed;
  const selector = new LineSelector(index, worth, budget * FIRST_SHARE);
  takeFixed(selector, index, { grouped, budget });
  selector.fill(grouped);
  return { index, root, grouped, selector, worth };
}

function groupLines({ lines, groups }: LineIndex): GroupLines {
  const found: (number[] | undefined)[] = groups.map(() => undefined);
  for (let id = 0; id < lines.texts.length; id++) {
    const group = lines.records.get(id, LINE.group);
    const known = found[group];
    if (known === undefined) found[group] = [id];
    else known.push(id);
  }
  return found;
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
function takeFixed(
  selector: LineSelector,
  index: LineIndex,
  { grouped, budget }: { grouped: GroupLines; budget: number },
): void {
  const within = (share: number) => {
    const floor = selector.tokensLeft - budget * share;
    return () => selector.tokensLeft > floor;
  };
  const hasRoomForFiles = within(SHARES.changedFiles);
  const numbers = [...index.groups.keys()];
  const roundOf = (number: number) => index.groups[number]?.round ?? 0;
  const changed = numbers.filter((number) => isChangedFile(index.groups[number]));
  for (const group of changed.sort((left, right) => roundOf(right) - roundOf(left))) {
    if (hasRoomForFiles()) selector.openGroup(group);
  }
  const hasRoomForFailures = within(SHARES.failures);
  const failed = numbers.filter((number) => isFailedCall(index.groups[number]));
  for (const group of failed.toReversed()) if (hasRoomForFailures()) selector.openGroup(group);
  const hasRoomForPlan = within(SHARES.plan);
  for (const id of planLines(index, grouped)) if (hasRoomForPlan()) selector.take(id);
  const hasRoomForUser = within(SHARES.userLines);
  const demands = new Set(index.demands);
  for (const id of typedLines(index)) {
    if (demands.has(index.lines.texts[id]?.trim() ?? '')) selector.leaveOut(id);
    else if (hasRoomForUser()) selector.take(id);
  }
}

function isChangedFile(group: Group | undefined): boolean {
  return group?.kind === 'file' && group.changes > 0;
}

function isFailedCall(group: Group | undefined): boolean {
  return group?.isFailed === true && group.title !== '';
}

/** The lines of the newest plan. */
function planLines({ groups, sources }: LineIndex, grouped: GroupLines): readonly number[] {
  const plan = sources.findLast(({ origin, isKept }) => origin === ORIGIN.plan && !isKept)?.group;
  return plan === undefined ? [] : (grouped[groups.indexOf(plan)] ?? []);
}

/** The lines that the user typed, the newest first. */
function typedLines({ lines: { records } }: LineIndex): readonly number[] {
  const typed: number[] = [];
  for (let id = records.length - 1; id >= 0; id--) {
    const isTyped =
      records.get(id, LINE.origin) === ORIGIN.user &&
      (records.get(id, LINE.flags) & FLAG.kept) === 0 &&
      records.get(id, LINE.sourceLines) <= TYPED_LINES;
    if (isTyped) typed.push(id);
  }
  return typed;
}

function worthOf(index: LineIndex, models: DigestModels, root: string): Draft['worth'] {
  const setting = settingOf(index);
  const judges = {
    entity: new Judge(new Entity(index, 0), { table: entityTable, model: models.entity, setting }),
    line: new Judge(new Line(index, 0), { table: lineTable, model: models.line, setting }),
  };
  return {
    judges,
    entity: namesWorth(index, judges.entity),
    line: linesWorth(index, judges.line),
    binding: BINDING_WORTH,
    heading: Float64Array.from(index.groups, (group) => {
      const heading = headingOf(group, root);
      return heading === '' ? 1 : lineCost(heading);
    }),
  };
}

/** What each name is worth: its share of all that later calls are expected to name. */
function namesWorth(index: LineIndex, judge: Judge<Entity>): Float64Array {
  const { shapes, records } = index.entities;
  const weak = index.lastTouched.size > 0 ? WEAK_CHANCE.withFiles : WEAK_CHANCE.withoutFiles;
  const worth = new Float64Array(shapes.length);
  let expected = 0;
  for (let id = 0; id < worth.length; id++) {
    const shape = shapes[id];
    const own = shape === SHAPE.name || shape === SHAPE.amount ? weak : judge.chance(id);
    const flags = records.get(id, ENTITY.flags);
    const chance = (flags & FLAG.carried) === 0 ? own : Math.min(1, own * CARRIED);
    worth[id] = chance;
    if ((flags & FLAG.kept) === 0) expected += chance;
  }
  return scaled(worth, 1, 2 * Math.max(expected, 1e-9));
}

/** What each line is worth: its share of all that later edits are expected to quote. */
function linesWorth({ lines }: LineIndex, judge: Judge<Line>): Float64Array {
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
  return scaled(worth, LINES_WORTH, expected);
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

/** The digest without the lines that were chosen last, until it is within its tokens. */
function shortened(
  index: LineIndex,
  selection: Selection,
  { root, request }: { root: string; request: SummaryRequest },
): string {
  const chosen = [...selection.lines];
  for (;;) {
    const groups = new Set(
      [...selection.groups].filter((number) => (index.groups[number]?.changes ?? 0) > 0 && chosen.length > 0),
    );
    for (const [id] of chosen) groups.add(index.lines.records.get(id, LINE.group));
    const text = renderDigest(index, { lines: new Map(chosen), groups }, root);
    const tokens = request.estimator.countText(text);
    if (tokens <= request.maximumTokens || chosen.length === 0) return text;
    chosen.length -= Math.max(1, Math.floor((chosen.length * (tokens - request.maximumTokens)) / tokens));
  }
}
