/** What the errors of databases, files and the network mean for the user. */
import { RoundfoldError } from '../conversation/errors.ts';
import { isObject } from '../conversation/json.ts';

/** "The store at … <what>", and what helps. */
interface Explanation {
  readonly what: string;
  readonly remedy: string;
}

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
const fullDisk = {
  what: 'cannot grow: the disk is full',
  remedy: 'Free some space; nothing stored is lost.',
};
const unopened = {
  what: 'cannot be opened',
  remedy: 'Check that the folder exists and that this user may read and write there.',
};
const unreachable = {
  what: 'cannot be reached',
  remedy: 'Check that the server runs, and the host and port of the address.',
};
const refused = {
  what: 'refuses this user',
  remedy: 'Check the user, the password and the rights of the user in the database.',
};

/** Primary result codes of SQLite. */
const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** By the result code of SQLite, which is a number, by that of Node, or by PostgreSQL's SQLSTATE or its first two digits. */
const explanations: ReadonlyMap<number | string, Explanation> = new Map<number | string, Explanation>([
  [BUSY, locked],
  [LOCKED, locked],
  [8, readOnly],
  [IO_ERROR, { what: 'could not be read or written', remedy: 'Check the disk and its free space.' }],
  [CORRUPT, damaged],
  [NOT_A_DATABASE, damaged],
  [13, fullDisk],
  [14, unopened],
  ['ENOSPC', fullDisk],
  ['EDQUOT', fullDisk],
  ['EROFS', readOnly],
  ['EACCES', unopened],
  ['EPERM', unopened],
  ['ENOENT', unopened],
  ['ENOTDIR', unopened],
  ['EISDIR', unopened],
  ['ECONNREFUSED', unreachable],
  ['ECONNRESET', unreachable],
  ['ENOTFOUND', unreachable],
  ['EAI_AGAIN', unreachable],
  ['ETIMEDOUT', unreachable],
  ['EHOSTUNREACH', unreachable],
  ['ENETUNREACH', unreachable],
  ['EPIPE', unreachable],
  ['08', unreachable],
  ['28', refused],
  ['42501', refused],
  ['3D', { what: 'has no database of that name', remedy: 'Create the database, or correct the address.' }],
  ['25006', { what: 'is read-only', remedy: 'Use the address of the server that takes writes.' }],
  ['53300', { what: 'has no connection left', remedy: 'Allow more connections, or use fewer.' }],
  ['53', { what: 'has no room left', remedy: 'Free some space on the server; nothing stored is lost.' }],
  ['55P03', { what: 'is locked by another process', remedy: 'Wait for the other process to finish.' }],
  ['57', { what: 'is shutting down or starting', remedy: 'Try again when the server is up.' }],
]);

/** SQLSTATEs of data and of constraints: their messages repeat values of the statement. */
const HAS_VALUES = /^2[23][0-9A-Z]{3}$/;

/** SQLite's primary result code, where extended codes have it in their lower byte, or another code as a text. */
function codeOf(error: unknown): number | string {
  if (!isObject(error)) return '';
  const { errcode, code } = error;
  return typeof errcode === 'number' ? errcode & 0xff : String(code ?? '');
}

/** The error for the caller. The address is without user and password. */
export function explainError(error: unknown, address: string): RoundfoldError {
  const code = codeOf(error);
  const found = explanations.get(code) ?? explanations.get(String(code).slice(0, 2)) ?? withoutCode(error);
  const failed = typeof code === 'string' && code !== '' ? `failed with ${code}` : 'failed';
  return new RoundfoldError('store', `the store at ${address} ${found?.what ?? failed}`, {
    place: { source: address },
    ...(HAS_VALUES.test(String(code)) ? {} : { cause: error }),
    ...(found === undefined ? {} : { remedy: found.remedy }),
  });
}

/** `pg` itself throws errors without a code: for a connection that broke or did not come about in time. */
function withoutCode(error: unknown): Explanation | undefined {
  const isAboutConnection =
    codeOf(error) === '' && error instanceof Error && /connect|timeout/i.test(error.message);
  return isAboutConnection ? unreachable : undefined;
}

/** Whether another process has the file of SQLite. */
export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED].some((code) => code === codeOf(error));
}

/** Whether the connection to a file, or the tables on a server, are gone. */
export function isLost(error: unknown): boolean {
  return [IO_ERROR, CORRUPT, NOT_A_DATABASE, '42P01', '3F000'].includes(codeOf(error));
}

/** Whether two transactions of PostgreSQL were in each other's way, so that one was taken back. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].some((code) => code === codeOf(error));
}

/** What SQLite would have thrown, had it looked by itself. */
export function damagedDatabase(): Error {
  return Object.assign(new Error('the check of the database failed'), { errcode: CORRUPT });
}
