import type { Recording } from '../config/recordings.ts';
import { findNeeds, type Needs } from './needs.ts';
import { type Cut, type CutOptions, cutsOf, type RecordedCut, recordedCutsOf } from './trajectory.ts';
import { findValueNeeds } from './value-needs.ts';

/** One cut that rows are measured on, with what its future needs. */
export interface LabCase {
  /** Number of the cut in its recording, from 0. */
  readonly number: number;
  readonly cut: Cut;
  readonly needs: Needs;
  /** Set where the harness itself compacted: the case belongs to the comparison with recorded summaries. */
  readonly recorded: RecordedCut | undefined;
}

export interface LabCaseOptions extends CutOptions {
  /** Names that unrelated projects share; they count for nothing. Default none. */
  readonly generic?: ReadonlySet<string> | undefined;
  /** `names` (default): whatever looks like a name in later calls. `values`: whole arguments, for service dialogues. */
  readonly needs?: 'names' | 'values' | undefined;
  /** A future that needs less of its prefix says nothing about it and is left out. Default 3. */
  readonly minimumNeeds?: number | undefined;
  /** Which of the cuts to look at, by number from 0: a part of the work. Default all. */
  readonly isWanted?: ((cut: number) => boolean) | undefined;
}

const MINIMUM_NEEDS = 3;

/** The cases of a recording: its cuts, and the places where its harness compacted, as far as their futures need enough. */
export function labCasesOf(recording: Recording, options: LabCaseOptions = {}): readonly LabCase[] {
  const { generic = new Set(), minimumNeeds = MINIMUM_NEEDS, isWanted = () => true } = options;
  const needsOf = (cut: Cut) => (options.needs === 'values' ? findValueNeeds(cut) : findNeeds(cut, generic));
  const cases = [
    ...cutsOf(recording, options).map((cut) => ({ cut, recorded: undefined })),
    ...recordedCutsOf(recording, options).map((cut) => ({ cut, recorded: cut })),
  ];
  return cases
    .map((labCase, number) => ({ ...labCase, number }))
    .filter(({ number }) => isWanted(number))
    .map((labCase) => ({ ...labCase, needs: needsOf(labCase.cut) }))
    .filter(({ needs }) => needs.entities.length >= minimumNeeds);
}
