import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import type { Explanation } from '../explanation.ts';

const unreachable = {
  what: 'cannot be reached',
  remedy: 'Check that the server runs, and the host and port of the address.',
};
const refused = {
  what: 'refuses this user',
  remedy: 'Check the user, the password and the rights of the user in the database.',
};
const full = { what: 'has no room left', remedy: 'Free some space on the server; nothing stored is lost.' };
const ending = { what: 'is shutting down or starting', remedy: 'Try again when the server is up.' };

/** What an error of the network, or the class or the code of an SQLSTATE, means for the user. The code wins. */
const explanations: ReadonlyMap<string, Explanation> = new Map([
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
  ['53', full],
  ['55P03', { what: 'is locked by another process', remedy: 'Wait for the other process to finish.' }],
  ['57', ending],
]);

/** Their messages repeat values of the statement. */
const CLASSES_WITH_VALUES = new Set(['22', '23']);
const LOST_TABLES = new Set(['42P01', '3F000']);
const WORTH_REPEATING = new Set(['40001', '40P01']);
const SQLSTATE = /^[0-9A-Z]{5}$/;

function codeOf(error: unknown): string {
  return isObject(error) ? String(error['code'] ?? '') : '';
}

/** Whether two transactions were in each other's way, so that one was taken back. */
export function isConflict(error: unknown): boolean {
  return WORTH_REPEATING.has(codeOf(error));
}

/** Whether somebody has removed the tables. */
export function areTablesLost(error: unknown): boolean {
  return LOST_TABLES.has(codeOf(error));
}

/** The error for the caller. `address` is without user and password. */
export function explainPostgresError(error: unknown, address: string): RoundfoldError {
  const code = codeOf(error);
  const found = explanations.get(code) ?? explanations.get(code.slice(0, 2)) ?? withoutCode(error, code);
  const hasValues = SQLSTATE.test(code) && CLASSES_WITH_VALUES.has(code.slice(0, 2));
  return new RoundfoldError('store', `the store at ${address} ${found?.what ?? `failed${label(code)}`}`, {
    place: { source: address },
    ...(hasValues ? {} : { cause: error }),
    ...(found === undefined ? {} : { remedy: found.remedy }),
  });
}

/** `pg` itself throws errors without a code: for a connection that broke or did not come about in time. */
function withoutCode(error: unknown, code: string): Explanation | undefined {
  const isAboutConnection = code === '' && error instanceof Error && /connect|timeout/i.test(error.message);
  return isAboutConnection ? unreachable : undefined;
}

function label(code: string): string {
  return code === '' ? '' : ` with ${code}`;
}
