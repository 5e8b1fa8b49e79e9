import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import type { Explanation } from '../explanation.ts';

/** Primary result codes of SQLite. */
const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

const locked = {
  what: 'is locked by another process',
  remedy: 'Wait for the other process to finish its write, or end it.',
};
const readOnly = {
  what: 'is read-only',
  remedy: 'Give this user the right to write to the file and its folder, or use another path.',
};
const damaged = {
  what: 'is damaged, or no database of roundfold',
  remedy: 'Move the file away and start with a new one, or restore a copy of it.',
};
const full = { what: 'cannot grow: the disk is full', remedy: 'Free some space; nothing stored is lost.' };
const unreachable = {
  what: 'cannot be opened',
  remedy: 'Check that the folder exists and that this user may read and write there.',
};

/** What a result code of SQLite, or an error of the file system, means for the user. */
const explanations: ReadonlyMap<number | string, Explanation> = new Map<number | string, Explanation>([
  [BUSY, locked],
  [LOCKED, locked],
  [8, readOnly],
  [IO_ERROR, { what: 'could not be read or written', remedy: 'Check the disk and its free space.' }],
  [CORRUPT, damaged],
  [NOT_A_DATABASE, damaged],
  [13, full],
  [14, unreachable],
  ['ENOSPC', full],
  ['EDQUOT', full],
  ['EROFS', readOnly],
  ['EACCES', unreachable],
  ['EPERM', unreachable],
  ['ENOENT', unreachable],
  ['ENOTDIR', unreachable],
  ['EISDIR', unreachable],
]);

/** The primary result code of an error of SQLite; extended codes have it in their lower byte. */
function resultCode(error: unknown): number | undefined {
  const code = isObject(error) ? error['errcode'] : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Whether somebody else is writing. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/** Whether the connection is of no further use. */
export function isConnectionLost(error: unknown): boolean {
  const code = resultCode(error);
  return code === IO_ERROR || code === CORRUPT || code === NOT_A_DATABASE;
}

/** The error for the caller. SQLite's own messages name tables and files, never values. */
export function explainSqliteError(error: unknown, path: string): RoundfoldError {
  const systemCode = isObject(error) ? String(error['code']) : '';
  const found = explanations.get(resultCode(error) ?? systemCode);
  return new RoundfoldError('store', `the store at ${path} ${found?.what ?? 'failed'}`, {
    cause: error,
    place: { source: path },
    ...(found === undefined ? {} : { remedy: found.remedy }),
  });
}

/** What SQLite would have thrown, had it looked by itself. */
export function damagedDatabase(): Error {
  return Object.assign(new Error('the check of the database failed'), { errcode: CORRUPT });
}
