/** Results as a table for a terminal. */
import type { Estimate, RowResult } from '../../src/lab/aggregate.ts';

const COLUMNS = [
  'row',
  'kept',
  'reference',
  'bound',
  'edit anchors',
  'constraints',
  'files',
  'of oracle',
  'stable',
  're-read',
  'illegal',
  'over',
  'ms',
];

/** One table per level. */
export function formatResults(results: readonly RowResult[]): string {
  const levels = Map.groupBy(results, ({ level }) => level);
  return [...levels].map(([level, rows]) => formatLevel(level, rows)).join('\n\n');
}

function formatLevel(level: string, results: readonly RowResult[]): string {
  const oracle = results.find(({ row }) => row === 'oracle');
  const lines = [COLUMNS, ...results.map((result) => cellsOf(result, oracle))];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const drawn = lines.map((cells) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
  const sessions = Math.max(...results.map(({ figures }) => figures.tokensKept.sessions));
  const cuts = Math.max(...results.map((result) => result.cuts));
  return [`── ${level} (${sessions} sessions, ${cuts} cuts)`, ...drawn].join('\n');
}

function cellsOf(result: RowResult, oracle: RowResult | undefined): readonly string[] {
  const { figures } = result;
  return [
    result.row,
    percent(figures.tokensKept.mean),
    interval(figures.futureReference),
    interval(figures.bound),
    interval(figures.editAnchors),
    percent(figures.constraints.mean),
    percent(figures.changedFiles.mean),
    oracle === undefined ? '' : percent(shareOfOracle(result, oracle)),
    percent(figures.stableShare.mean),
    String(result.rereadTokens),
    result.illegal === 0 ? '0' : `${result.illegal} (${result.brokenRules.join(' ')})`,
    String(result.overBudget),
    result.medianMilliseconds.toFixed(1),
  ];
}

/** The sum of the three recalls, as a share of what the oracle reaches with the same tokens. */
function shareOfOracle({ figures }: RowResult, oracle: RowResult): number {
  const sum = ({ futureReference, bound, editAnchors }: RowResult['figures']) =>
    futureReference.mean + bound.mean + (editAnchors.sessions === 0 ? 0 : editAnchors.mean);
  return sum(figures) / sum(oracle.figures);
}

function percent(value: number): string {
  return Number.isNaN(value) ? '–' : (value * 100).toFixed(1);
}

function interval({ mean, low, high }: Estimate): string {
  return Number.isNaN(mean) ? '–' : `${percent(mean)} [${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)}]`;
}

/** Which kinds of need a row misses most, at each level. */
export function formatMissed(results: readonly RowResult[], row: string): string {
  const lines = results
    .filter((result) => result.row === row)
    .map(({ level, byKind, bySource }) => {
      const worst = (shares: typeof byKind | typeof bySource) =>
        Object.entries(shares)
          .filter(([, { kept, of }]) => kept < of)
          .toSorted(([, left], [, right]) => right.of - right.kept - (left.of - left.kept))
          .map(([name, { kept, of }]) => `${name} ${of - kept}/${of}`)
          .join(', ');
      return `  ${level}: ${worst(byKind) || 'nothing'}; shown by: ${worst(bySource) || '–'}`;
    });
  return [`needs missed by ${row} (missed/all)`, ...lines].join('\n');
}
