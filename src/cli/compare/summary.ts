import { readFileSync } from 'node:fs';
import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import { aggregate, type Estimate, estimate, type RowResult } from '../../lab/aggregate.ts';
import type { Loss } from '../../lab/losses.ts';
import { harnessOfRow, isRecordedLevel, levelName, NONE } from '../../lab/measure.ts';
import { type FigureName, figureMeasures, nameOfFigure } from '../../lab/measures.ts';
import { LAST_SHARE, MINIMUM_TOKENS } from '../../lab/trajectory.ts';
import { formatFigure, type RowKind } from '../../report/comparison.ts';
import { formatCount } from '../../report/terminal.ts';
import type { JobResult } from './jobs.ts';
import type { CaseResult, CompareSettings, RecordingResult, RowLosses, SessionCost } from './recording.ts';

/** A comparison in numbers. Plain data: `--json` prints it and `--baseline` reads it. */
export interface Summary {
  readonly settings: Pick<CompareSettings, 'strategies' | 'budgets' | 'cuts' | 'model'>;
  readonly sessions: readonly SummarySession[];
  /** Sessions that nothing could be measured on. */
  readonly leftOut: readonly { readonly session: string; readonly reason: string }[];
  readonly rows: readonly SummaryRow[];
  readonly lost: readonly LostNeed[];
}

export interface SummarySession {
  readonly name: string;
  readonly cuts: number;
  /** Tokens of its longest stretch. */
  readonly tokens: number;
  /** Undefined when nobody knows its prices. */
  readonly model: string | undefined;
  readonly noneFits: boolean | undefined;
}

/** One row at one budget. */
export interface SummaryRow {
  readonly row: string;
  readonly kind: RowKind;
  readonly level: string;
  /** Percent of the tokens; of a harness's own summaries what they had. Undefined for doing nothing. */
  readonly budget: number | undefined;
  readonly cuts: number;
  /** Undefined where no session had anything to measure. */
  readonly figures: Readonly<Partial<Record<FigureName, Estimate>>>;
  /** Outputs that a provider would refuse, and by which rules. */
  readonly illegalOutputs: number;
  readonly brokenRules: readonly string[];
  readonly overBudget: number;
  /** What a session costs, in USD. */
  readonly cost?: Estimate | undefined;
  /** Sessions of which some request does not fit the window. */
  readonly tooLong?: number | undefined;
}

/** A session with all that was found of it. */
interface MergedSession {
  readonly name: string;
  readonly cuts: number;
  readonly tokens: number;
  readonly cases: readonly CaseResult[];
  readonly costs: readonly SessionCost[];
}

/** Sums up what all pieces of work gave. Does not depend on how the work was cut into pieces. */
export function summarize(results: readonly JobResult[], settings: CompareSettings): Summary {
  const all = mergeSessions(results);
  const sessions = all.filter(({ cases }) => cases.length > 0);
  const measurements = sessions.flatMap(({ cases }) => cases.flatMap((one) => one.measurements));
  const { strategies, budgets, cuts, model } = settings;
  const rows = aggregate(measurements)
    // Doing nothing gives the same at every level, so it is listed once.
    .filter(({ row, level }) => row !== NONE || !isRecordedLevel(level))
    .map((result) => toRow(result, settings, sessions));
  return {
    settings: { strategies, budgets, cuts, model },
    sessions: sessions.map(({ name, cases, tokens, costs }) => ({
      name,
      cuts: cases.length,
      tokens,
      model: costs[0]?.model,
      noneFits:
        costs.length === 0 ? undefined : costs.every(({ withoutCompaction }) => withoutCompaction.fits),
    })),
    leftOut: all
      .filter(({ cases }) => cases.length === 0)
      .map((session) => ({ session: session.name, reason: whyLeftOut(session) })),
    rows: inOrder(withBudgets(rows), settings),
    lost: telling(
      sessions.flatMap(({ name, cases }) =>
        cases.flatMap(({ losses }) => losses.map((one) => ({ ...one, session: name }))),
      ),
    ),
  };
}

function mergeSessions(results: readonly JobResult[]): readonly MergedSession[] {
  const bySession = Map.groupBy(
    results.flatMap(({ recordings }) => recordings.map((recording, index) => ({ recording, index }))),
    ({ recording }) => recording.session,
  );
  return [...bySession].map(([name, found]) => {
    const byRecording = Map.groupBy(found, ({ index }) => index);
    const parts = [...byRecording].toSorted(([left], [right]) => left - right).map(([, group]) => group);
    const recordings: readonly (readonly RecordingResult[])[] = parts.map((group) =>
      group.map(({ recording }) => recording),
    );
    return {
      name,
      cuts: recordings.reduce((sum, group) => sum + (group[0]?.cuts ?? 0), 0),
      tokens: Math.max(0, ...recordings.map((group) => group[0]?.tokens ?? 0)),
      cases: recordings.flatMap((group) =>
        group.flatMap(({ cases }) => cases).toSorted((left, right) => left.number - right.number),
      ),
      costs: recordings.flatMap((group) => group.flatMap(({ cost }) => cost ?? [])),
    };
  });
}

function whyLeftOut({ cuts, tokens }: MergedSession): string {
  if (cuts > 0) return 'its later calls use next to nothing of what came before';
  if (tokens * LAST_SHARE >= MINIMUM_TOKENS)
    return `nowhere to cut: no request has ${formatCount(MINIMUM_TOKENS)} tokens before it and enough behind it`;
  return `too short to cut: ${formatCount(tokens)} tokens, and ${formatCount(MINIMUM_TOKENS)} have to stand before a cut`;
}

/** What the oracle aims at. It knows nothing of the rest, which says nothing about the possible. */
const ORACLE_FIGURES: readonly string[] = [
  'kept',
  'names',
  'boundTwoWords',
  'editLines',
  'tokensToReadAgain',
];

function toRow(
  result: RowResult,
  settings: CompareSettings,
  sessions: readonly MergedSession[],
): Omit<SummaryRow, 'budget'> {
  const { figures, ...rest } = result;
  const kind = kindOf(result.row, settings);
  const measured = Object.entries(figures)
    .filter(([, { sessions: count }]) => count > 0)
    .filter(([figure]) => kind !== 'oracle' || ORACLE_FIGURES.includes(figure));
  return {
    ...rest,
    kind,
    figures: Object.fromEntries(measured.map(([name, figure]) => [name, rounded(figure)])),
    ...costOf(result, sessions),
  };
}

function kindOf(row: string, { strategies }: CompareSettings): RowKind {
  if (strategies.includes(row)) return 'strategy';
  if (row === 'oracle') return 'oracle';
  return harnessOfRow(row) === undefined ? 'control' : 'recorded';
}

/** The mean over the sessions whose prices are known, each with its side chains. */
function costOf({ row, level }: RowResult, sessions: readonly MergedSession[]) {
  const priced = sessions.filter(({ costs }) => costs.length > 0);
  const found = priced.flatMap(({ costs }) => {
    const parts = costs.map((cost) =>
      row === NONE
        ? cost.withoutCompaction
        : cost.rows.find((one) => one.row === row && levelName(one.budget) === level),
    );
    const known = parts.filter((part) => part !== undefined);
    if (known.length < parts.length) return [];
    return {
      cost: known.reduce((sum, part) => sum + part.cost, 0),
      fits: known.every(({ fits }) => fits),
    };
  });
  if (found.length === 0) return {};
  return {
    cost: rounded(
      estimate(
        found.map(({ cost }) => cost),
        `${row} ${level} cost`,
      ),
    ),
    tooLong: found.filter(({ fits }) => !fits).length,
  };
}

/** A budget for every row: for those of a harness's own summaries, what these had. */
function withBudgets(rows: readonly Omit<SummaryRow, 'budget'>[]): readonly SummaryRow[] {
  return rows.map((row) => {
    const recorded = rows.find(({ kind, level }) => kind === 'recorded' && level === row.level);
    const share = recorded?.figures.kept?.mean;
    const stated = Number(/^([\d.]+) %$/.exec(row.level)?.[1]);
    const budget = share === undefined ? stated : Math.round(share * 1000) / 10;
    return { ...row, budget: row.row === NONE || Number.isNaN(budget) ? undefined : budget };
  });
}

const KIND_ORDER: readonly RowKind[] = ['strategy', 'peer', 'recorded', 'control', 'oracle'];

/** By level, largest budget first, those of recorded summaries last; by kind, then as they were asked for. */
function inOrder(rows: readonly SummaryRow[], { budgets }: CompareSettings): readonly SummaryRow[] {
  const levels = budgets.map(levelName);
  const place = ({ level, row }: SummaryRow) => {
    if (row === NONE) return levels.length;
    return levels.includes(level) ? levels.indexOf(level) : levels.length + 1;
  };
  return rows.toSorted(
    (left, right) =>
      place(left) - place(right) || KIND_ORDER.indexOf(left.kind) - KIND_ORDER.indexOf(right.kind),
  );
}

const PRECISION = 1e6;

function rounded({ mean, low, high, sessions }: Estimate): Estimate {
  const round = (value: number) => Math.round(value * PRECISION) / PRECISION;
  return { mean: round(mean), low: round(low), high: round(high), sessions };
}

/** Something a later call needed that was not there any more. */
export interface LostNeed extends Loss {
  readonly session: string;
  readonly row: string;
  readonly level: string;
}

/** How many losses of one row at one level in one session are reported. */
const TOLD = 8;

/**
 * The most telling losses: of each row, level and session the soonest needed, each once, and those of all in turns, so
 * that the first of a long list are of every kind.
 */
function telling(losses: readonly (RowLosses & { readonly session: string })[]): readonly LostNeed[] {
  const groups = Map.groupBy(losses, ({ row, level, session }) => JSON.stringify([row, level, session]));
  const told = [...groups.values()].map((group) => {
    const needs = group.flatMap(({ row, level, session, first }) =>
      first.map((loss) => ({ session, row, level, ...loss })),
    );
    const distinct = [...new Map(needs.toReversed().map((need) => [need.what, need])).values()];
    return distinct
      .toSorted((left, right) => (left.roundsLater ?? 0) - (right.roundsLater ?? 0))
      .slice(0, TOLD);
  });
  return Array.from({ length: TOLD }, (_, rank) => told.flatMap((needs) => needs[rank] ?? [])).flat();
}

/** A figure that got worse. */
export interface Regression {
  readonly row: string;
  readonly level: string;
  readonly figure: string;
  readonly before: number;
  readonly now: number;
}

/** A share counts as worse when it is more than half a point lower. */
const SHARE_NOISE = 0.005;
/** A cost counts as worse when it is more than one percent higher. */
const COST_NOISE = 0.01;

/**
 * A former comparison, as `--json` printed it.
 * @throws RoundfoldError `usage` when there is none in the file
 */
export function readBaseline(file: string): Summary {
  const text = readText(file);
  for (const line of text.split('\n')) {
    const value = tryParse(line);
    // Written by this command: whoever changes it by hand gets what they ask for.
    if (isObject(value) && value['type'] === 'comparison' && Array.isArray(value['rows']))
      return value as unknown as Summary;
  }
  throw new RoundfoldError('usage', `${file} is no comparison`, {
    remedy: 'Make one with `roundfold compare … --json > FILE`.',
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('usage', `${file} cannot be read`, {
      cause,
      remedy: 'Make a baseline with `roundfold compare … --json > FILE`.',
    });
  }
}

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * What got worse since the baseline, by more than noise: a share by more than half a point, a cost by more than 1 %. Only
 * strategies are judged, at the budgets that both have.
 * @throws RoundfoldError `usage` when the two were not measured on the same
 */
export function findRegressions(before: Summary, now: Summary): readonly Regression[] {
  checkComparable(before, now);
  const keyOf = ({ row, level }: SummaryRow) => JSON.stringify([row, level]);
  const known = new Map(before.rows.map((row) => [keyOf(row), row]));
  const pairs = now.rows
    .filter(({ kind }) => kind === 'strategy')
    .flatMap((row) => {
      const old = known.get(keyOf(row));
      return old === undefined ? [] : [[old, row] as const];
    });
  if (pairs.length === 0) {
    throw new RoundfoldError('usage', 'the baseline has none of these strategies at these budgets', {
      remedy: 'Compare the same --strategies and --budgets, or make a new baseline.',
    });
  }
  return pairs.flatMap(([old, row]) => regressionsOf(old, row));
}

/** More or less of these is no gain and no loss: what is kept was asked for, and what is read again follows from lines. */
const UNJUDGED: readonly string[] = ['kept', 'stablePrefix', 'tokensToReadAgain'];
const judgedMeasures = figureMeasures.filter(({ figure }) => !UNJUDGED.includes(figure));

function checkComparable(before: Summary, now: Summary): void {
  const names = ({ sessions }: Summary) => JSON.stringify(sessions.map(({ name }) => name).toSorted());
  const differs =
    names(before) !== names(now)
      ? 'other sessions'
      : before.settings.cuts === now.settings.cuts
        ? undefined
        : 'another number of cuts';
  if (differs === undefined) return;
  throw new RoundfoldError('usage', `the baseline was measured on ${differs}`, {
    remedy: 'Compare the same files with the same --cuts, or make a new baseline.',
  });
}

function regressionsOf(old: SummaryRow, { row, level, figures, cost }: SummaryRow): readonly Regression[] {
  const shares = judgedMeasures.flatMap(({ figure, isLessBetter }) => {
    const [before, now] = [old.figures[figure]?.mean, figures[figure]?.mean];
    if (before === undefined || now === undefined) return [];
    const loss = isLessBetter === true ? now - before : before - now;
    return loss > SHARE_NOISE ? [{ row, level, figure, before, now }] : [];
  });
  const isDearer =
    old.cost !== undefined && cost !== undefined && cost.mean > old.cost.mean * (1 + COST_NOISE);
  return [
    ...shares,
    ...(isDearer ? [{ row, level, figure: 'cost', before: old.cost.mean, now: cost.mean }] : []),
  ];
}

/** A regression as a line. */
export function regressionText({ row, level, figure, before, now }: Regression): string {
  const words = (value: number) => formatFigure(value, { unit: figure === 'cost' ? 'dollars' : 'share' });
  return `${row} at ${level}: ${nameOfFigure(figure)} from ${words(before)} to ${words(now)}`;
}
