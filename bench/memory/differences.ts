/** What one row tells more than another of the very same cuts, in points. */
import { type Estimate, pairedDifference } from '../../src/lab/aggregate.ts';
import { type FigureName, nameOfFigure } from '../../src/lab/measures.ts';
import { drawTable } from './draw.ts';
import type { MemoryResult } from './job.ts';

/** Two rows at one level, and how the difference is called. */
export interface Pair {
  readonly name: string;
  readonly level: string;
  readonly row: string;
  readonly other: string;
}

const FIGURES: readonly FigureName[] = [
  'kept',
  'probes',
  'names',
  'boundTwoWords',
  'boundFourWordsOrLine',
  'editLines',
  'lastCheck',
  'decisions',
  'demands',
];

/** A line for each pair: the mean of the differences per session, with the 95 % interval. */
export function formatDifferences(results: readonly MemoryResult[], pairs: readonly Pair[]): string {
  const figures = FIGURES.filter((figure) => results.some((result) => result.figures[figure] !== undefined));
  const lines = pairs.map(({ name, level, row, other }) => {
    const cells = figures.map((figure) => points(pairedDifference(results, [row, other], level, figure)));
    return [name, ...cells];
  });
  return drawTable(['difference in points', ...figures.map(nameOfFigure)], lines);
}

function points({ mean, low, high }: Estimate): string {
  if (Number.isNaN(mean)) return '-';
  const [middle, from, to] = [mean, low, high].map(
    (value) => `${value > 0 ? '+' : ''}${(value * 100).toFixed(1)}`,
  );
  return `${middle} [${from} ${to}]`;
}
