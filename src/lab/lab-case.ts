import type { Recording } from '../transcripts/recordings.ts';
import { commonNames } from './common-names.ts';
import { type Exam, examOf } from './exam.ts';
import { findNeeds } from './needs.ts';
import type { ProbeSession } from './probe-session.ts';
import type { CountMessages } from './score.ts';
import { type Cut, type CutOptions, cutsOf, type RecordedCut, recordedCutsOf } from './trajectory.ts';
import { findValueNeeds } from './value-needs.ts';

/** One cut that rows are measured on, with what contexts are asked for there. */
export interface LabCase extends Exam {
  /** Number of the cut in its recording, from 0. */
  readonly number: number;
  /** Set where the harness itself compacted: the case belongs to the comparison with recorded summaries. */
  readonly recorded: RecordedCut | undefined;
}

export interface LabCaseOptions extends CutOptions {
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
  const { minimumNeeds = MINIMUM_NEEDS, isWanted = () => true } = options;
  const needsOf = (cut: Cut) =>
    options.needs === 'values' ? findValueNeeds(cut) : findNeeds(cut, commonNames);
  const cuts = [
    ...cutsOf(recording, options).map((cut) => ({ cut, recorded: undefined })),
    ...recordedCutsOf(recording, options).map((cut) => ({ cut, recorded: cut })),
  ];
  return cuts
    .map((found, number) => ({ ...found, number }))
    .filter(({ number }) => isWanted(number))
    .map((found) => ({ ...found, needs: needsOf(found.cut) }))
    .filter(({ needs }) => needs.names.length >= minimumNeeds)
    .map(({ cut, needs, number, recorded }) => ({ ...examOf(cut, needs), number, recorded }));
}

/** A session with probes as a case: it is cut where it ends. */
export function probeCase({ cut, probes }: ProbeSession, countMessages: CountMessages): LabCase {
  const labCase = { ...examOf(cut, findNeeds(cut, commonNames), probes), number: 0, recorded: undefined };
  return countedCase(labCase, countMessages);
}

/** The same case with its sizes counted in another way. */
export function countedCase(labCase: LabCase, countMessages: CountMessages): LabCase {
  const { messages } = labCase.cut.prefix;
  const instructions = messages.filter(({ role }) => role === 'system');
  const tokens = {
    prefixTokens: countMessages(messages),
    instructionTokens: countMessages(instructions),
  };
  return { ...labCase, cut: { ...labCase.cut, ...tokens } };
}
