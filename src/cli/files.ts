import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RoundfoldError } from '../conversation/errors.ts';
import { PAGE_GENERATOR } from '../report/html/page.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';

/** What a file that roundfold writes holds. */
type FileKind = 'page' | 'receipt' | 'log' | 'export' | 'index' | 'conversation';

/** What files of each kind are called, and how they begin. */
const KINDS: ReadonlyMap<FileKind, { readonly name: string; readonly beginning: RegExp }> = new Map([
  [
    'page',
    {
      name: 'page of roundfold',
      beginning: new RegExp(
        `^<!doctype html>\\n<html lang="en"><head><meta charset="utf-8">${PAGE_GENERATOR}`,
      ),
    },
  ],
  [
    'receipt',
    {
      name: 'receipt of roundfold',
      beginning: /^\{\s{1,8}"version": 1,\s{1,8}"strategy": "[^"]{0,200}",\s{1,8}"messagesBefore": \d/,
    },
  ],
  [
    'log',
    {
      name: 'log of roundfold',
      beginning: /^\{(?:"time":"[^"]{1,40}",)?"version":1,"strategy":"[^"]{0,200}","trigger":"/,
    },
  ],
  ['export', { name: 'export of a store', beginning: /^\{"version":\d{1,9},"type":"roundfold-export"/ }],
  // An index has no entry, since its place is our own, and a conversation has none: nothing tells one that roundfold wrote
  // from one that somebody needs.
]);

/** Options that name a file to write, and what is written there. */
const OUTPUTS = {
  out: 'conversation',
  receipt: 'receipt',
  html: 'page',
  log: 'log',
} as const satisfies Record<string, FileKind>;

/** The option of every command that writes files. */
export const forceOption: OptionDefinition = {
  flags: '--force',
  help: 'overwrite files that roundfold did not write',
};

/**
 * Checks every output file before anything is spent: it can be written, holds nothing that roundfold did not write, is named
 * only once, and is none of the files that are read.
 * @throws RoundfoldError `usage` otherwise
 */
export function checkOutputs(given: GivenArguments, read: readonly string[]): void {
  const taken = new Map<string, string>();
  for (const file of read) {
    const identity = file === '-' ? undefined : identityOf(file);
    if (identity !== undefined) taken.set(identity, 'the file that is read');
  }
  for (const [option, kind] of Object.entries(OUTPUTS)) {
    const path = given.text(option);
    if (path === undefined) continue;
    checkWritable(path);
    const identity = identityOf(path);
    const other = identity === undefined ? undefined : taken.get(identity);
    if (other !== undefined) {
      throw new RoundfoldError('usage', `--${option} names ${other}: ${path}`, {
        remedy: 'Name another file; the original is never overwritten.',
      });
    }
    refuseForeignFile(path, { kind, isForced: given.flag('force') });
    if (identity !== undefined) taken.set(identity, `the same file as --${option}`);
  }
}

/** Equal for all paths and links to one file; undefined for devices, which may be named several times. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (found === undefined) return resolve(path);
  return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
}

function checkWritable(path: string): void {
  orUnwritable(path, () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    const isDevice = found !== undefined && !found.isFile();
    accessSync(isDevice ? path : dirname(path), constants.W_OK);
  });
}

/**
 * Writes the file that the option names.
 * @returns its path; undefined when the option was not given and nothing was written
 * @throws RoundfoldError `usage` when it cannot be written, or when a file of somebody else's is there by now
 */
export function writeOutput(
  given: GivenArguments,
  option: keyof typeof OUTPUTS,
  text: () => string,
): string | undefined {
  const path = given.text(option);
  if (path === undefined) return undefined;
  writePrivateFile(path, text(), { kind: OUTPUTS[option], isForced: given.flag('force') });
  return path;
}

/** What is written, and what may be lost for it. */
interface WriteOptions {
  /** An existing file of this kind that roundfold wrote may be replaced. */
  readonly kind: FileKind;
  /** Whether the user allows any file to be replaced. */
  readonly isForced: boolean;
}

/**
 * Writes a file that only its owner may read, whole or not at all.
 * @throws RoundfoldError `usage` when a file of somebody else's is there, or when it cannot be written
 */
export function writePrivateFile(path: string, text: string, options: WriteOptions): void {
  const file = openPrivateFile(path, options);
  try {
    file.write(text);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** A file that is being written. */
export interface PrivateFile {
  write(text: string): void;
  /** Puts what was written in its place. */
  finish(): void;
  /** Takes back what was written, as far as it can be. */
  abandon(): void;
}

/**
 * Opens a file that only its owner may read. What was there before stays until the new one is complete. Devices and pipes are
 * written to as they are, and links are followed.
 * @throws RoundfoldError `usage` when a file of somebody else's is there, or when it cannot be written, with the reason
 * as its cause
 */
export function openPrivateFile(path: string, options: WriteOptions): PrivateFile {
  refuseForeignFile(path, options);
  const { target, written, file } = orUnwritable(path, () => openUnfinished(path));
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    write(text) {
      const bytes = Buffer.from(text);
      orUnwritable(path, () => {
        // A full pipe or disk may take a part only.
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      });
    },
    finish() {
      orUnwritable(path, () => {
        close();
        if (written !== target) renameSync(written, target);
      });
    },
    abandon() {
      close();
      if (written !== target) rmSync(written, { force: true });
    },
  };
}

/** Devices and pipes are written in place, everything else under another name until it is complete. */
function openUnfinished(path: string) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile() && !found.isDirectory())
    return { target: path, written: path, file: openSync(path, 'w') };
  const target = found === undefined ? path : realpathSync(path);
  const written = `${target}.${randomUUID()}.unfinished`;
  return { target, written, file: openSync(written, 'wx', 0o600) };
}

/**
 * Makes the folder of a file that is about to be written, for its owner alone.
 * @throws RoundfoldError `usage` when it cannot be made, or when nothing can be written there
 */
export function makePrivateFolder(path: string): void {
  orUnwritable(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  });
}

/**
 * Makes sure that no file is lost that roundfold did not write, unless the user allows it.
 * @throws RoundfoldError `usage` otherwise
 */
export function refuseForeignFile(path: string, { kind, isForced }: WriteOptions): void {
  if (isForced || orUnwritable(path, () => isReplaceable(path, kind))) return;
  const name = KINDS.get(kind)?.name;
  const what = name === undefined ? 'is there already' : `is there already and is no ${name}`;
  throw new RoundfoldError('usage', `${path} ${what}; it stays as it is`, {
    remedy: 'Name another file, or add --force if that one may be lost.',
  });
}

/** Longer beginnings are not looked at. */
const LOOKED_AT_BYTES = 1024;

/** Nothing is lost with what is no file, with an empty file, or with one of the same kind that roundfold wrote. */
function isReplaceable(path: string, kind: FileKind): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return true;
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LOOKED_AT_BYTES);
    const beginning = bytes.toString('utf8', 0, readSync(file, bytes));
    return beginning === '' || KINDS.get(kind)?.beginning.test(beginning) === true;
  } finally {
    closeSync(file);
  }
}

function orUnwritable<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** The error for a file that cannot be written. */
export function unwritable(path: string, cause: unknown): RoundfoldError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const [words = code, remedy = 'Check the folder, its permissions and the space on the disk.'] =
    REASONS.get(code) ?? [];
  return new RoundfoldError('usage', `${path} cannot be written${words === '' ? '' : ` (${words})`}`, {
    cause,
    remedy,
  });
}

const ROOM = 'Make room on the disk or name a file on another one, then run it again.';

const REASONS: ReadonlyMap<string, readonly [reason: string, remedy?: string]> = new Map([
  ['ENOSPC', ['no space left on the disk', ROOM]],
  ['EDQUOT', ['disk quota used up', ROOM]],
  ['ENOENT', ['no such folder', 'Make the folder first, or name a file in one that is there.']],
  ['ENOTDIR', ['a part of the path is no folder', 'Name a file in a folder that is there.']],
  ['EISDIR', ['it is a folder', 'Name a file in it.']],
  ['EACCES', ['permission denied', 'Name a file in a folder that you may write to.']],
  ['EPERM', ['permission denied']],
  ['EROFS', ['the disk is read-only']],
]);
