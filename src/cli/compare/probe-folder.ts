import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RoundfoldError } from '../../conversation/errors.ts';
import { type Probe, type ProbeSession, probeSessionOf, readProbe } from '../../lab/probes.ts';
import { readJsonValues } from '../../transcripts/input/json-values.ts';
import { fileSource } from '../../transcripts/input/source.ts';

/** The two files of a session with probes. Plain data. */
export interface ProbeFiles {
  readonly name: string;
  /** The request body up to the cut, and what came next. */
  readonly session: string;
  readonly probes: string;
}

const PROBES_ENDING = '.probes.jsonl';
const SESSION_ENDINGS = ['.json', '.json.gz'] as const;

/**
 * The sessions with probes in a folder, by name.
 * @throws RoundfoldError `usage` for a folder that has none, or where a session is missing
 */
export function probeFilesIn(folder: string): readonly ProbeFiles[] {
  const names = listFolder(folder)
    .filter((file) => file.endsWith(PROBES_ENDING))
    .map((file) => file.slice(0, -PROBES_ENDING.length))
    .toSorted();
  if (names.length === 0) {
    throw new RoundfoldError('usage', `${folder} has no NAME${PROBES_ENDING}`, { remedy: FOLDER_REMEDY });
  }
  return names.map((name) => {
    const session = SESSION_ENDINGS.map((ending) => join(folder, `${name}${ending}`)).find(existsSync);
    if (session !== undefined) return { name, session, probes: join(folder, `${name}${PROBES_ENDING}`) };
    throw new RoundfoldError('usage', `${folder} has probes of ${name} and no ${name}.json`, {
      remedy: FOLDER_REMEDY,
    });
  });
}

const FOLDER_REMEDY = 'A session with probes is NAME.json or NAME.json.gz and, beside it, NAME.probes.jsonl.';

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('usage', `${folder} is no folder that can be read`, {
      cause,
      remedy: FOLDER_REMEDY,
    });
  }
}

/**
 * Reads a session with its probes.
 * @throws RoundfoldError `input-not-understood` for what is no request body, or no probe
 */
export async function readProbeFiles({ name, session, probes }: ProbeFiles): Promise<ProbeSession> {
  const found: Probe[] = [];
  for await (const { value, place } of valuesOf(probes)) found.push(readProbe(value, place));
  for await (const { value } of valuesOf(session)) return probeSessionOf(name, value, found);
  throw new RoundfoldError('input-not-understood', `${session} is empty`, { place: { source: session } });
}

/** The JSON values of a file; one that is broken would leave questions out and is not passed over. */
async function* valuesOf(file: string) {
  yield* readJsonValues(await fileSource(file), {
    onBadInput({ place, reason }) {
      throw new RoundfoldError('input-not-understood', reason, { place });
    },
  });
}
