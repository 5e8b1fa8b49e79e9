/** Something that is measured of a context. Terminal and page call it by its name, results and JSON by its figure. */
export interface FigureMeasure {
  readonly figure: FigureName;
  readonly name: string;
  /** What it says, in a sentence. */
  readonly help: string;
  /** Shares are from 0 to 1. */
  readonly unit: 'share' | 'tokens';
  readonly isLessBetter?: true;
}

/** Every figure: the words of its name, joined. */
export type FigureName =
  | 'kept'
  | 'probes'
  | 'names'
  | 'boundTwoWords'
  | 'boundFourWordsOrLine'
  | 'editLines'
  | 'stale'
  | 'changedFiles'
  | 'demands'
  | 'lastCheck'
  | 'decisions'
  | 'endsWithCurrentTurn'
  | 'illegal'
  | 'namesByHandle'
  | 'stablePrefix'
  | 'tokensToReadAgain';

/** The figures of one context; undefined where there was nothing to measure. Plain data. */
export type Figures = Readonly<Record<FigureName, number | undefined>>;

/** How much is left: what every other measure is held against. */
export const keptMeasure: FigureMeasure = {
  figure: 'kept',
  name: 'kept',
  unit: 'share',
  help: 'Share of the tokens that is left.',
};

/** Everything that is measured, in the order in which it is shown. */
export const figureMeasures: readonly FigureMeasure[] = [
  keptMeasure,
  {
    figure: 'probes',
    name: 'probes',
    unit: 'share',
    help: 'Questions of somebody who takes over that are answered, by weight.',
  },
  {
    figure: 'names',
    name: 'names',
    unit: 'share',
    help: 'Names that later calls use and that are still there.',
  },
  {
    figure: 'boundTwoWords',
    name: 'bound (two words)',
    unit: 'share',
    help: 'Names that still stand on a line with two words that stood with them before.',
  },
  {
    figure: 'boundFourWordsOrLine',
    name: 'bound (four words or line)',
    unit: 'share',
    help: 'Names that still stand on a line with four such words, or on a whole line of the source.',
  },
  {
    figure: 'editLines',
    name: 'edit lines',
    unit: 'share',
    help: 'Lines that later edits have to quote and that are still there, verbatim.',
  },
  {
    figure: 'stale',
    name: 'stale',
    unit: 'share',
    isLessBetter: true,
    help: 'Of the lines of files that a summary of ours shows, those that were replaced and do not say so.',
  },
  {
    figure: 'changedFiles',
    name: 'changed files',
    unit: 'share',
    help: 'Files that were changed and are still named.',
  },
  {
    figure: 'demands',
    name: 'demands',
    unit: 'share',
    help: "The user's demands that are still there, verbatim.",
  },
  {
    figure: 'lastCheck',
    name: 'last check',
    unit: 'share',
    help: 'The newest test, build or repeated command is told, and near it what came of it.',
  },
  {
    figure: 'decisions',
    name: 'decisions',
    unit: 'share',
    help: 'Sentences in which the agent decided, concluded or explained something, still there.',
  },
  {
    figure: 'endsWithCurrentTurn',
    name: 'ends with current turn',
    unit: 'share',
    help: 'The newest message and all that the model has not answered yet stand at the end as they were.',
  },
  {
    figure: 'illegal',
    name: 'illegal',
    unit: 'share',
    isLessBetter: true,
    help: 'Outputs that a provider would refuse.',
  },
  {
    figure: 'namesByHandle',
    name: 'names by handle',
    unit: 'share',
    help: 'Names that are there, or whose source a handle in the text gives back, as an archive of all that left would.',
  },
  {
    figure: 'stablePrefix',
    name: 'stable prefix',
    unit: 'share',
    help: 'Share of the output that stands in front, unchanged: what a prompt cache still knows.',
  },
  {
    figure: 'tokensToReadAgain',
    name: 'tokens to read again',
    unit: 'tokens',
    isLessBetter: true,
    help: 'Size of the sources of edit lines that are missing.',
  },
];

/** What people call a figure. */
export function nameOfFigure(figure: string): string {
  return figureMeasures.find((measure) => measure.figure === figure)?.name ?? figure;
}
