import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Folder of sessions with probes, kept beside the project; undefined where it is not there. */
export const probesFolder: string | undefined = [
  process.env['ROUNDFOLD_PROBES'],
  resolve(import.meta.dirname, '../../../shared/probes'),
].find((folder) => folder !== undefined && existsSync(folder));

/** Said by everything that cannot run without it. */
export const probesAreMissing = 'no sessions with probes here (ROUNDFOLD_PROBES names their folder)';

/** The harness that recorded each session, where the folder has an index that tells it. */
export function probeHarnesses(folder: string): ReadonlyMap<string, string> {
  const index = join(folder, 'index.json');
  if (!existsSync(index)) return new Map();
  const entries = JSON.parse(readFileSync(index, 'utf8')) as readonly { name: string; harness: string }[]; // its shape
  return new Map(entries.map(({ name, harness }) => [name, harness]));
}
