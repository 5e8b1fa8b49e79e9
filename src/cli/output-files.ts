import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RoundfoldError } from '../conversation/errors.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';
import type { FileKind } from './own-files.ts';
import { refuseForeignFile, unwritable, writePrivateFile } from './write-file.ts';

/** Options that name a file to write, and what is written there. */
const OUTPUTS = {
  out: 'conversation',
  receipt: 'receipt',
  html: 'page',
  log: 'log',
} as const satisfies Record<string, FileKind>;

export type OutputOption = keyof typeof OUTPUTS;

/** The option of every command that writes files. */
export const forceOption: OptionDefinition = {
  flags: '--force',
  help: 'overwrite files that roundfold did not write',
};

/**
 * Makes sure that every file can be written before anything is spent, that none is lost that roundfold did not write, that
 * none is written twice, and above all none of those that are read.
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

/**
 * Writes the file that the option names.
 * @returns its path; undefined when the option was not given and nothing was written
 * @throws RoundfoldError `usage` when it cannot be written, or when a file of somebody else's is there by now
 */
export function writeOutput(
  given: GivenArguments,
  option: OutputOption,
  text: () => string,
): string | undefined {
  const path = given.text(option);
  if (path === undefined) return undefined;
  writePrivateFile(path, text(), { kind: OUTPUTS[option], isForced: given.flag('force') });
  return path;
}

/** The same for every path to a file, through whatever links; undefined for devices, which anybody may write to. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (found === undefined) return resolve(path);
  return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
}

function checkWritable(path: string): void {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) {
      throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    }
    const isThing = found !== undefined && !found.isFile();
    accessSync(isThing ? path : dirname(path), constants.W_OK);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}
