import { readFileSync } from 'node:fs';
import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import { figureMeasures, nameOfFigure } from '../../lab/measures.ts';
import { formatFigure } from '../../report/html/figures.ts';
import type { Summary, SummaryRow } from './summary.ts';

/** A figure that got worse. */
export interface Regression {
  readonly row: string;
  readonly level: string;
  readonly figure: string;
  readonly before: number;
  readonly now: number;
}

/** Shares may fall by so much before it counts: half a point. */
const SHARE_NOISE = 0.005;
/** Costs may rise by so much: one percent. */
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
