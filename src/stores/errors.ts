/** What the errors of databases, files and the network mean for the user. */
import { RoundfoldError } from '../conversation/errors.ts';
import { isObject } from '../conversation/json.ts';

/** "The store at … <what>", and what helps. */
interface Explanation {
  readonly what: string;
  readonly remedy: string;
}

/** Primary result codes of SQLite. */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

type Code = number | string;

/** By SQLite's result code, which is a number, by Node's code, or by PostgreSQL's SQLSTATE or its first two digits. */
const explanations: readonly (readonly [codes: readonly Code[], what: string, remedy: string])[] = [
  [
    [BUSY, LOCKED],
    'is locked by another process',
    'Wait for the other process to finish its write, or end it.',
  ],
  [
    [READ_ONLY, 'EROFS'],
    'is read-only',
    'Give this user the right to write to the file and its folder, or use another path.',
  ],
  [[IO_ERROR], 'could not be read or written', 'Check the disk and its free space.'],
  [
    [CORRUPT, NOT_A_DATABASE],
    'is damaged, or no database of roundfold',
    'Move the file away and start with a new one, or restore a copy of it.',
  ],
  [[FULL, 'ENOSPC', 'EDQUOT'], 'cannot grow: the disk is full', 'Free some space; nothing stored is lost.'],
  [
    [CANNOT_OPEN, 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'EISDIR'],
    'cannot be opened',
    'Check that the folder exists and that this user may read and write there.',
  ],
  [
    [
      'ECONNREFUSED',
      'ECONNRESET',
      'ENOTFOUND',
      'EAI_AGAIN',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'EPIPE',
      '08',
    ],
    'cannot be reached',
    'Check that the server runs, and the host and port of the address.',
  ],
  [
    ['28', '42501'],
    'refuses this user',
    'Check the user, the password and the rights of the user in the database.',
  ],
  [['3D'], 'has no database of that name', 'Create the database, or correct the address.'],
  [['25006'], 'is read-only', 'Use the address of the server that takes writes.'],
  [['53300'], 'has no connection left', 'Allow more connections, or use fewer.'],
  [['53'], 'has no room left', 'Free some space on the server; nothing stored is lost.'],
  [['55P03'], 'is locked by another process', 'Wait for the other process to finish.'],
  [['57'], 'is shutting down or starting', 'Try again when the server is up.'],
];

const byCode: ReadonlyMap<Code, Explanation> = new Map(
  explanations.flatMap(([codes, what, remedy]) => codes.map((code) => [code, { what, remedy }] as const)),
);

/** What passes by itself: the server starts or is out of reach, or somebody else is at the store. */
const temporary: ReadonlySet<Code> = new Set(
  [BUSY, 'ECONNREFUSED', '53300', '55P03', '57'].flatMap((code) => codesLike(code)),
);

/** All codes that mean the same as this one. */
function codesLike(code: Code): readonly Code[] {
  return explanations.find(([codes]) => codes.includes(code))?.[0] ?? [];
}

/** Whether an error of a store may be gone the next time without anybody doing anything about it. */
export function isTemporary(error: unknown): boolean {
  if (!RoundfoldError.is(error) || error.code !== 'store' || error.cause === undefined) return false;
  const code = codeOf(error.cause);
  const isKnown = temporary.has(code) || temporary.has(String(code).slice(0, 2));
  return isKnown || withoutCode(error.cause) !== undefined;
}

/** SQLSTATEs of data and of constraints: their messages repeat values of the statement. */
const HAS_VALUES = /^2[23][0-9A-Z]{3}$/;

/** SQLite's primary result code, where extended codes have it in their lower byte, or another code as a text. */
function codeOf(error: unknown): Code {
  if (!isObject(error)) return '';
  const { errcode, code } = error;
  return typeof errcode === 'number' ? errcode & 0xff : String(code ?? '');
}

/** The error for the caller. The address is without user and password. */
export function explainError(error: unknown, address: string): RoundfoldError {
  const code = codeOf(error);
  const found = byCode.get(code) ?? byCode.get(String(code).slice(0, 2)) ?? withoutCode(error);
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
  return isAboutConnection ? byCode.get('ECONNRESET') : undefined;
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
