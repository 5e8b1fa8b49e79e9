/** The file of a store in SQLite: where it is, who may read it, and whether it is still the same. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { RoundfoldError } from '../conversation/errors.ts';
import { isObject } from '../conversation/json.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/** What SQLite puts beside a database. */
const SUFFIXES = ['', '-wal', '-shm'];

/** Where the store is when nobody says: `$XDG_DATA_HOME/roundfold/store.sqlite`, or below `~/.local/share`. */
export function defaultStorePath(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const data = env['XDG_DATA_HOME'];
  // The specification says to ignore paths that are relative.
  const base =
    data !== undefined && isAbsolute(data) ? data : join(env['HOME'] ?? homedir(), '.local', 'share');
  return join(base, 'roundfold', 'store.sqlite');
}

/**
 * Makes the folder and the file where they are missing, for the owner alone. SQLite gives the files beside it the same
 * mode.
 * @throws `store` when the path is something else than a file
 */
export function prepareFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    makeFolder(dirname(path));
    closeSync(openSync(path, 'a', FILE_MODE));
    return;
  }
  if (!found.isFile()) throw notAFile(path, found.isSymbolicLink());
  // Somebody else's file is left as it is: SQLite will say that it is no database.
  if (isDatabase(path)) for (const suffix of SUFFIXES) closeToOthers(`${path}${suffix}`);
}

/** Folder by folder: asked for all at once, Node tries for ever where a file system has room for none, as /proc. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    // Another process may have been faster.
    if (!isObject(error) || error['code'] !== 'EEXIST') throw error;
  }
}

const SIGNATURE = 'SQLite format 3\0';

/** Whether the file begins as a database does, or is empty. */
function isDatabase(path: string): boolean {
  const beginning = Buffer.alloc(SIGNATURE.length);
  const file = openSync(path, 'r');
  try {
    const length = readSync(file, beginning, 0, beginning.length, 0);
    return length === 0 || beginning.toString('latin1') === SIGNATURE;
  } finally {
    closeSync(file);
  }
}

function closeToOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, FILE_MODE);
  } catch {
    // Somebody else's file, or a file system that is read-only: their choice.
  }
}

function notAFile(path: string, isLink: boolean): RoundfoldError {
  const what = isLink ? 'a symbolic link' : 'not a file';
  return new RoundfoldError('store', `the store at ${path} is ${what}`, {
    place: { source: path },
    remedy: 'Give the path of a file, which is made when it does not exist.',
  });
}

/** Whether SQLite can write there: it needs the file and the folder. */
export function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What stays the same as long as the path names the same file. */
export function fileIdentity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
