import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { RoundfoldError } from '../core/errors.ts';

/**
 * Writes a file that only its owner may read, whole or not at all: what was there before stays until the new one is
 * complete.
 * @throws RoundfoldError `usage` when it cannot be written
 */
export function writePrivateFile(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}.unfinished`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600 });
    renameSync(unfinished, path);
  } catch (cause) {
    if (existsSync(unfinished)) rmSync(unfinished);
    const words = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('usage', `${path} cannot be written${words}`, {
      cause,
      remedy: 'Nothing was written. Check the folder, its permissions and the space on the disk.',
    });
  }
}
