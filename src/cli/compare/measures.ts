import type { Measure } from '../../report/comparison.ts';
import type { FigureName } from './summary.ts';

/** A measure of a comparison. Terminal and page call it by its name, JSON by its figure. */
export interface ComparedMeasure extends Measure {
  readonly figure: FigureName | 'rereadTokens';
  /** Whether it has a column in a terminal of 80 columns. */
  readonly isInTerminal: boolean;
}

/** How much is left: what every other measure is held against. */
export const keptMeasure: ComparedMeasure = {
  figure: 'tokensKept',
  name: 'kept',
  help: 'Share of the tokens that is left.',
  unit: 'share',
  isInTerminal: true,
};

/** What is measured of what is left, in the order in which it is shown. */
export const measures: readonly ComparedMeasure[] = [
  {
    figure: 'futureReference',
    name: 'names',
    help: 'Names that later calls use and that are still there.',
    unit: 'share',
    isCharted: true,
    isInTerminal: true,
  },
  {
    figure: 'bound',
    name: 'bound',
    help: 'Names that still stand on a line with two words that stood with them before.',
    unit: 'share',
    isCharted: true,
    isInTerminal: true,
  },
  {
    figure: 'editAnchors',
    name: 'lines',
    help: 'Lines that later edits have to quote and that are still there, verbatim.',
    unit: 'share',
    isCharted: true,
    isInTerminal: true,
  },
  {
    figure: 'constraints',
    name: 'demands',
    help: "The user's demands that are still there, verbatim.",
    unit: 'share',
    isInTerminal: true,
  },
  {
    figure: 'changedFiles',
    name: 'files',
    help: 'Files that were changed and are still named.',
    unit: 'share',
    isInTerminal: true,
  },
  {
    figure: 'retrievableReference',
    name: 'by handle',
    help: 'Names that are there, or whose source a handle in the text gives back, as an archive of all that left would.',
    unit: 'share',
    isInTerminal: false,
  },
  {
    figure: 'stableShare',
    name: 'prefix',
    help: 'Share of the output that stands in front, unchanged: what a prompt cache still knows.',
    unit: 'share',
    isInTerminal: false,
  },
  {
    figure: 'rereadTokens',
    name: 'read again',
    help: 'Tokens to read again for lines that are missing.',
    unit: 'tokens',
    isLessBetter: true,
    isInTerminal: false,
  },
];

/** What people call a figure of the JSON. */
export function nameOfFigure(figure: string): string {
  return [keptMeasure, ...measures].find((measure) => measure.figure === figure)?.name ?? figure;
}
