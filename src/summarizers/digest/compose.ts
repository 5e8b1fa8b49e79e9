import type { SummaryRequest } from '../../core/summarizer.ts';
import { indexLines } from './index-lines.ts';
import { type Entity, entitiesOf, type Line, linesOf } from './index-views.ts';
import { lineCost } from './line-cost.ts';
import { FLAG, LINE, type LineIndex } from './line-index.ts';
import { readDigest } from './read-digest.ts';
import { commonRoot, type Frame, renderDigest } from './render.ts';
import { type GroupLines, LineSelector, type Selection } from './select-lines.ts';
import { collectSources, type Group, type Material, ORIGIN } from './sources.ts';
import { type DigestModels, hasFiles, type JudgedWorth, worthOf } from './worth.ts';

const CHARACTERS_PER_TOKEN = 4;
/** Shares of the budget that what is shown in any case may take. */
const SHARES = {
  task: 0.03,
  demands: 0.6,
  habits: 0.06,
  changedFiles: 0.15,
  failures: 0.02,
  userLines: 0.03,
  plan: 0.02,
};
/** Share of the budget that a line of the user's may take there: a longer one would leave no room in a tiny digest, and has to be worth it. */
const LONGEST_USER_LINE = 0.1;
/** A longer text of the user's is pasted. */
const TYPED_LINES = 40;
const HEADING_TOKENS = 35;
/** A smaller digest has no room for words about itself. */
const TERSE_TOKENS = 400;
/**
 * Costs of lines are estimates: what is left in the end is spent in a few more steps. In a large digest errors even out, and
 * writing it once more costs more than the rest is worth.
 */
const SPENDING = { firstShare: 0.93, closeEnough: 0.985 };
const SPENDING_OF_LARGE = { firstShare: 0.98, closeEnough: 0.96 };
const LARGE_TOKENS = 20_000;
const ATTEMPTS = 3;
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
  readonly frame: Frame;
  readonly grouped: GroupLines;
  readonly selector: LineSelector;
  readonly worth: JudgedWorth;
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
  covered: { rounds: 1, characters: 0, hasOtherSummary: false },
  rounds: 1,
  earlierCharacters: 0,
  demands: [],
  habits: [],
};

/** Writes the digest of a request, within its tokens as far as they allow one at all. */
export function composeDigest(request: SummaryRequest, models: DigestModels): string {
  const { estimator, maximumTokens } = request;
  resting.draft ??= draftOf(indexLines(SMALL_MATERIAL), models, SMALL_TOKENS);
  const { index, frame, grouped, selector } = draftOf(readRequest(request), models, maximumTokens);
  const { closeEnough } = spendingOf(maximumTokens);
  let text = renderDigest(index, selector, frame);
  let tokens = estimator.countText(text);
  for (let attempt = 1; attempt <= ATTEMPTS && tokens < maximumTokens * closeEnough; attempt++) {
    const left = (maximumTokens - tokens) * CAUTION;
    selector.tokensLeft = left;
    selector.goOn(grouped, attempt === ATTEMPTS);
    // Everything that is worth a place may be told already.
    if (selector.tokensLeft === left) continue;
    text = renderDigest(index, selector, frame);
    tokens = estimator.countText(text);
  }
  return tokens <= maximumTokens ? text : shortened(index, selector, { frame, request });
}

function spendingOf(maximumTokens: number): typeof SPENDING {
  return maximumTokens < LARGE_TOKENS ? SPENDING : SPENDING_OF_LARGE;
}

/** Chooses what fits into so many tokens by a first estimate. */
function draftOf(full: LineIndex, models: DigestModels, maximumTokens: number): Draft {
  const index = { ...full, ...fixedLines(full, maximumTokens) };
  const root = commonRoot([...index.lastTouched.keys()].map(({ title }) => title));
  const share = (maximumTokens * CHARACTERS_PER_TOKEN) / Math.max(1, index.lengthCharacters);
  const worth = worthOf(index, models, { root, share, tokens: maximumTokens });
  const grouped = groupLines(index);
  const fixed = [root, ...index.demands, ...index.habits].reduce(
    (sum, line) => sum + lineCost(line),
    HEADING_TOKENS,
  );
  const budget = maximumTokens - fixed;
  const selector = new LineSelector(index, worth, budget * spendingOf(maximumTokens).firstShare);
  takeFixed(selector, index, { grouped, budget });
  selector.fill(grouped);
  return { index, frame: { root, isTerse: maximumTokens < TERSE_TOKENS }, grouped, selector, worth };
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
  return {
    demands: within(index.demands, SHARES.demands),
    habits: hasFiles(index) ? within(index.habits, SHARES.habits) : [],
  };
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
  const takeWithin = (share: number, ids: readonly number[]) => {
    const hasRoom = within(share);
    for (const id of ids) if (hasRoom()) selector.take(id);
  };
  const isShort = (id: number) => (index.lines.costs[id] ?? 0) <= budget * LONGEST_USER_LINE;
  takeWithin(SHARES.task, taskLines(index).filter(isShort));
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
  takeWithin(SHARES.plan, planLines(index, grouped));
  const demands = new Set(index.demands);
  const typed = typedLines(index);
  for (const id of typed) if (demands.has(index.lines.texts[id]?.trim() ?? '')) selector.leaveOut(id);
  takeWithin(SHARES.userLines, typed.filter(isShort));
}

function isChangedFile(group: Group | undefined): boolean {
  return group?.kind === 'file' && group.changes > 0;
}

function isFailedCall(group: Group | undefined): boolean {
  return group?.isFailed === true && group.title !== '';
}

/** The lines of the newest plan, without what the tool said of it. */
function planLines(
  { groups, sources, lines: { records } }: LineIndex,
  grouped: GroupLines,
): readonly number[] {
  const plan = sources.findLast(({ origin, isKept }) => origin === ORIGIN.plan && !isKept)?.group;
  const ids = plan === undefined ? [] : (grouped[groups.indexOf(plan)] ?? []);
  return ids.filter((id) => records.get(id, LINE.origin) === ORIGIN.plan);
}

/** The lines of the user's first text, if it does not stay as it is. */
function taskLines({ sources, lines: { records } }: LineIndex): readonly number[] {
  const task = sources.findIndex(({ origin }) => origin === ORIGIN.user);
  const lines: number[] = [];
  if (task === -1 || sources[task]?.isKept === true) return lines;
  for (let id = 0; id < records.length; id++) if (records.get(id, LINE.source) === task) lines.push(id);
  return lines;
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

/** The digest without the lines that were chosen last, until it is within its tokens. */
function shortened(
  index: LineIndex,
  selection: Selection,
  { frame, request }: { frame: Frame; request: SummaryRequest },
): string {
  const chosen = [...selection.lines];
  for (;;) {
    const groups = new Set(
      [...selection.groups].filter((number) => (index.groups[number]?.changes ?? 0) > 0 && chosen.length > 0),
    );
    for (const [id] of chosen) groups.add(index.lines.records.get(id, LINE.group));
    const text = renderDigest(index, { lines: new Map(chosen), groups }, frame);
    const tokens = request.estimator.countText(text);
    if (tokens <= request.maximumTokens || chosen.length === 0) return text;
    chosen.length -= Math.max(1, Math.floor((chosen.length * (tokens - request.maximumTokens)) / tokens));
  }
}
