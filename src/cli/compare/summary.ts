import { aggregate, type Estimate, estimate, type RowResult } from '../../lab/aggregate.ts';
import { harnessOfRow, isRecordedLevel, levelName, NONE } from '../../lab/measure.ts';
import type { FigureName } from '../../lab/measures.ts';
import { LAST_SHARE, MINIMUM_TOKENS } from '../../lab/trajectory.ts';
import type { RowKind } from '../../report/comparison.ts';
import { formatCount } from '../../report/terminal.ts';
import type { CaseResult, RecordingResult } from './compare-recording.ts';
import type { SessionCost } from './costs.ts';
import type { JobResult } from './job.ts';
import { type LostNeed, telling } from './lost.ts';
import type { CompareSettings } from './settings.ts';

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
    // Doing nothing is the same everywhere: once is enough.
    .filter(({ row, level }) => row !== NONE || !isRecordedLevel(level))
    .map((result) => toRow(result, settings, sessions));
  return {
    settings: { strategies, budgets, cuts, model },
    sessions: sessions.map(({ name, cases, tokens, costs }) => ({
      name,
      cuts: cases.length,
      tokens,
      model: costs[0]?.model,
      noneFits: costs.length === 0 ? undefined : costs.every(({ noneFits }) => noneFits),
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
        ? { cost: cost.none, fits: cost.noneFits }
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
