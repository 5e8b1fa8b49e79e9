import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { RoundfoldError } from '../conversation/errors.ts';
import { type FileKind, isOwnFile } from './own-files.ts';

/** What is written, and what may be lost for it. */
export interface WriteOptions {
  /** An existing file of this kind that roundfold wrote may be replaced. */
  readonly kind: FileKind;
  /** Whether the user allows any file to be replaced. */
  readonly isForced: boolean;
}

/**
 * Writes a file that only its owner may read, whole or not at all: what was there before stays until the new one is
 * complete. Devices and pipes are written to as they are, and links are followed.
 * @throws RoundfoldError `usage` when a file of somebody else's is there, or when it cannot be written, with the reason
 * as its cause
 */
export function writePrivateFile(path: string, text: string, options: WriteOptions): void {
  refuseForeignFile(path, options);
  let unfinished: string | undefined;
  try {
    const { target, written } = placeFor(path);
    if (written === target) {
      writeFileSync(path, text);
      return;
    }
    unfinished = written;
    writeFileSync(written, text, { mode: 0o600, flag: 'wx' });
    renameSync(written, target);
  } catch (cause) {
    if (unfinished !== undefined && existsSync(unfinished)) rmSync(unfinished);
    throw unwritable(path, cause);
  }
}

/** Where a file is written at first, and where it goes when it is complete: the same for devices and pipes. */
export function placeFor(path: string): { readonly target: string; readonly written: string } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return { target: path, written: path };
  const target = found === undefined ? path : realpathSync(path);
  return { target, written: `${target}.${randomUUID()}.unfinished` };
}

/**
 * Makes the folder of a file that is about to be written, for its owner alone.
 * @throws RoundfoldError `usage` when it cannot be made, or when nothing can be written there
 */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/**
 * Makes sure that no file is lost that roundfold did not write, unless the user allows it.
 * @throws RoundfoldError `usage` otherwise
 */
export function refuseForeignFile(path: string, { kind, isForced }: WriteOptions): void {
  if (isForced) return;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true || isOwnFile(path, kind)) return;
  } catch (cause) {
    throw unwritable(path, cause);
  }
  const what = kind === 'conversation' ? 'is there already' : `is there already and is no ${NAMES[kind]}`;
  throw new RoundfoldError('usage', `${path} ${what}; it stays as it is`, {
    remedy: 'Name another file, or add --force if that one may be lost.',
  });
}

const NAMES: Readonly<Record<Exclude<FileKind, 'conversation'>, string>> = {
  page: 'page of roundfold',
  receipt: 'receipt of roundfold',
  log: 'log of roundfold',
  export: 'export of a store',
};

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
