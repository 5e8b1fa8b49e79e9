import { type FigureMeasure, type FigureName, figureMeasures } from '../../lab/measures.ts';

/** A measure of a comparison. Terminal and page call it by its name, JSON by its figure. */
export interface ComparedMeasure extends FigureMeasure {
  /** Whether it has a chart of its own, against the tokens kept. */
  readonly isCharted: boolean;
}

const CHARTED: readonly FigureName[] = ['probes', 'names', 'boundFourWordsOrLine', 'editLines'];

/** Everything that is measured, in the order in which it is shown. */
export const measures: readonly ComparedMeasure[] = figureMeasures.map((measure) => ({
  ...measure,
  isCharted: CHARTED.includes(measure.figure),
}));

/** What a terminal shows as far as it is wide enough, the most important first. */
export const terminalOrder: readonly FigureName[] = [
  'kept',
  'probes',
  'names',
  'boundFourWordsOrLine',
  'editLines',
  'demands',
  'lastCheck',
  'decisions',
  'stale',
  'changedFiles',
  'boundTwoWords',
  'illegal',
  'endsWithCurrentTurn',
];
