import { existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { RoundfoldError } from '../core/errors.ts';

/**
 * Writes a file that only its owner may read, whole or not at all: what was there before stays until the new one is
 * complete. Devices and pipes are written to as they are, and links are followed.
 * @throws RoundfoldError `usage` when it cannot be written, with the reason as its cause
 */
export function writePrivateFile(path: string, text: string): void {
  let unfinished: string | undefined;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile() && !found.isDirectory()) {
      writeFileSync(path, text);
      return;
    }
    const target = found === undefined ? path : realpathSync(path);
    unfinished = `${target}.${process.pid}.unfinished`;
    writeFileSync(unfinished, text, { mode: 0o600 });
    renameSync(unfinished, target);
  } catch (cause) {
    if (unfinished !== undefined && existsSync(unfinished)) rmSync(unfinished);
    throw unwritable(path, cause);
  }
}

/** The error for a file that cannot be written. */
export function unwritable(path: string, cause: unknown): RoundfoldError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const words = REASONS.get(code) ?? code;
  return new RoundfoldError('usage', `${path} cannot be written${words === '' ? '' : ` (${words})`}`, {
    cause,
    remedy: REMEDIES.get(code) ?? 'Check the folder, its permissions and the space on the disk.',
  });
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'no space left on the disk'],
  ['EDQUOT', 'disk quota used up'],
  ['ENOENT', 'no such folder'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the disk is read-only'],
]);

const ROOM = 'Make room on the disk or name a file on another one, then run it again.';

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', ROOM],
  ['EDQUOT', ROOM],
  ['ENOENT', 'Make the folder first, or name a file in one that is there.'],
  ['ENOTDIR', 'Name a file in a folder that is there.'],
  ['EISDIR', 'Name a file in it.'],
  ['EACCES', 'Name a file in a folder that you may write to.'],
]);
