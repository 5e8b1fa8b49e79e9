import type { LabCase } from '../../src/lab/lab-case.ts';
import { casesOfFile, genericNames, type Panel, panelFiles } from '../retention/cases.ts';

/** The cuts of one recorded session. */
export interface Session {
  readonly name: string;
  readonly cases: readonly LabCase[];
}

/** Every session of a panel that can be cut, with what the future of each cut needs; `cuts` for each stretch. */
export async function readSessions(panel: Panel, cuts = 5): Promise<readonly Session[]> {
  const generic = await genericNames();
  const cases: LabCase[] = [];
  for (const file of panelFiles(panel)) cases.push(...(await casesOfFile(file, generic, cuts, panel)));
  const sessions = Map.groupBy(cases, ({ cut }) => cut.session);
  return [...sessions].map(([name, own]) => ({ name, cases: own }));
}
