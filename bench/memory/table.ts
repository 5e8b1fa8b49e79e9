/** Results as a table: a line for each level, and in it for each row and each group of sessions. */
import { aggregate, type Estimate, type RowResult } from '../../src/lab/aggregate.ts';
import { type FigureMeasure, type FigureName, figureMeasures } from '../../src/lab/measures.ts';
import { drawTable } from './draw.ts';
import type { MemoryResult } from './job.ts';

/** Figures of whoever asks for an archive, a prompt cache or another reading: `roundfold compare` shows them. */
const NOT_SHOWN: readonly FigureName[] = ['namesByHandle', 'stablePrefix', 'tokensToReadAgain'];

/** What the table is to show. */
export interface TableOptions {
  /** Names the group of a result; undefined: all are one. */
  readonly groupOf: ((result: MemoryResult) => string) | undefined;
  /** Whether a second line tells the 95 % intervals over sessions. */
  readonly hasIntervals: boolean;
}

interface Line {
  readonly group: string;
  readonly result: RowResult;
}

/** Draws the results in percent, as means over sessions. */
export function formatResults(results: readonly MemoryResult[], options: TableOptions): string {
  const { groupOf, hasIntervals } = options;
  const measures = figureMeasures
    .filter(({ figure }) => !NOT_SHOWN.includes(figure))
    .filter(({ figure }) => results.some(({ figures }) => figures[figure] !== undefined));
  const lines = linesOf(results, groupOf);
  const isShown = [true, new Set(results.map(({ row }) => row)).size > 1, groupOf !== undefined];
  const headings = [
    'asked for',
    'row',
    'of',
    'sessions',
    'cuts',
    ...measures.map(({ name }) => name),
    'over',
  ];
  const cells = lines.flatMap((line) =>
    hasIntervals ? [cellsOf(line, measures), intervalsOf(line, measures)] : [cellsOf(line, measures)],
  );
  const shown = (all: readonly string[]) => all.filter((_, column) => isShown[column] ?? true);
  return drawTable(shown(headings), cells.map(shown));
}

/** Levels in their order, in each the rows, in each the groups and then all of them. */
function linesOf(results: readonly MemoryResult[], groupOf: TableOptions['groupOf']): readonly Line[] {
  const levels = Map.groupBy(results, ({ level }) => level);
  return [...levels.values()].flatMap((ofLevel) =>
    [...Map.groupBy(ofLevel, ({ row }) => row).values()].flatMap((ofRow) => {
      const groups = groupOf === undefined ? [] : [...Map.groupBy(ofRow, groupOf)];
      return [...groups, ['all', ofRow] as const].flatMap(([group, members]) =>
        aggregate(members).map((result) => ({ group, result })),
      );
    }),
  );
}

function cellsOf({ group, result }: Line, measures: readonly FigureMeasure[]): readonly string[] {
  const { level, row, cuts, figures, overBudget } = result;
  return [
    level,
    row,
    group,
    String(figures.kept.sessions),
    String(cuts),
    ...measures.map(({ figure }) => percent(figures[figure].mean)),
    String(overBudget),
  ];
}

function intervalsOf({ result: { figures } }: Line, measures: readonly FigureMeasure[]): readonly string[] {
  return ['', '', '', '', '', ...measures.map(({ figure }) => interval(figures[figure])), ''];
}

function percent(share: number): string {
  return Number.isNaN(share) ? '-' : (share * 100).toFixed(1);
}

function interval({ mean, low, high }: Estimate): string {
  return Number.isNaN(mean) ? '' : `${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)}`;
}
