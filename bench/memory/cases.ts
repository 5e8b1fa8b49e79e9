/** What is measured: sessions with probes, or recorded sessions of the corpus, as cuts that contexts are asked about. */
import { type ProbeFiles, readProbeFiles } from '../../src/cli/compare/probe-folder.ts';
import {
  countedCase,
  type LabCase,
  type LabCaseOptions,
  labCasesOf,
  probeCase,
} from '../../src/lab/measure.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import { readSessions, type SessionFile } from './corpus.ts';

/** A piece of work. Plain data: it goes to a thread as a message. */
export type MemoryTask =
  | { readonly kind: 'probes'; readonly files: ProbeFiles; readonly harness: string }
  | {
      readonly kind: 'agents' | 'service';
      readonly file: SessionFile;
      readonly harness: string;
      readonly cuts: number;
    };

/**
 * Dialogues of a service are short. In one of fewer tokens the first and the last text of the user's, which stay as they are, take
 * the tokens that are asked for. What their calls need are whole values.
 */
const SERVICE_OPTIONS: LabCaseOptions = { needs: 'values', minimumTokens: 400, minimumNeeds: 1 };

/** The cuts of a piece of work, with their sizes in tokens of the real tokenizer. */
export async function casesOf(task: MemoryTask, countMessages: CountMessages): Promise<readonly LabCase[]> {
  if (task.kind === 'probes') return [probeCase(await readProbeFiles(task.files), countMessages)];
  const cases = await casesOfFile(task.file, {
    cuts: task.cuts,
    ...(task.kind === 'service' ? SERVICE_OPTIONS : {}),
  });
  return cases.map((labCase) => countedCase(labCase, countMessages));
}

/** Every case of a file of the corpus. */
async function casesOfFile(file: SessionFile, options: LabCaseOptions = {}): Promise<readonly LabCase[]> {
  const sessions = await readSessions(file);
  return sessions.flatMap(({ session, recording }) => labCasesOf(recording, { ...options, session }));
}
