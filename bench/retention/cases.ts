/** Cuts of recorded sessions together with what their futures need: what every row is measured on. */
import { createTokenEstimator } from '../../src/core/token-estimator.ts';
import { GenericNames } from '../../src/lab/generic.ts';
import { type LabCase, labCasesOf } from '../../src/lab/lab-case.ts';
import { agentFiles, otherFiles, readSessions, type SessionFile, serviceFiles } from './corpus.ts';

/** Names that sessions of two unrelated projects of the corpus share. */
export async function genericNames(): Promise<ReadonlySet<string>> {
  const generic = new GenericNames();
  for (const file of [...agentFiles(), ...serviceFiles(), ...otherFiles()]) {
    for (const { project, recording } of await readSessions(file)) {
      for (const { messages } of recording.conversations) generic.add(project, messages);
    }
  }
  return generic.names;
}

/**
 * What is measured: agents by the names that their calls use, services by the values of theirs. The others are agents whose
 * sessions had no part in anything that was fitted or chosen.
 */
export const panels = ['agents', 'service', 'others'] as const;
export type Panel = (typeof panels)[number];

/**
 * Dialogues of a service are short. In one of fewer tokens the first and the last text of the user's, which stay as they are, take
 * the tokens that are asked for.
 */
const SERVICE_OPTIONS = { needs: 'values', minimumTokens: 400, minimumNeeds: 1 } as const;

const filesOf = { agents: agentFiles, service: serviceFiles, others: otherFiles };

/** The files of a panel. */
export function panelFiles(panel: Panel): readonly SessionFile[] {
  return filesOf[panel]();
}

/** Every case of a file. */
export async function casesOfFile(
  file: SessionFile,
  generic: ReadonlySet<string>,
  cuts = 5,
  panel: Panel = 'agents',
): Promise<readonly LabCase[]> {
  const options = { cuts, generic, estimator: createTokenEstimator() };
  const sessions = await readSessions(file);
  return sessions.flatMap(({ session, recording }) =>
    labCasesOf(recording, { ...options, ...(panel === 'service' ? SERVICE_OPTIONS : {}), session }),
  );
}
