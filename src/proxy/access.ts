import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { RoundfoldError } from '../conversation/errors.ts';
import type { Refused } from './errors.ts';
import { TOKEN_HEADER } from './headers.ts';

export interface AccessOptions {
  /** The address that is listened at. */
  readonly host: string;
  /** Allows another address than one of this machine. Needs a token. */
  readonly allowRemote?: boolean | undefined;
  /** What clients have to send in `x-roundfold-token`. */
  readonly token?: string | undefined;
  /** Further names that clients may call this proxy by, also those of a TLS server in front of it. */
  readonly hosts?: readonly string[] | undefined;
}

/** Why a request may not come in; undefined when it may. */
export type AccessCheck = (request: IncomingMessage, what: 'health' | 'pages' | 'all') => Refused | undefined;

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Whether an address is this machine's own, which nobody else can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Makes the check that every request passes before anything else is done with it.
 * @throws RoundfoldError `usage` for an address that others can reach without a token, or without being asked for
 */
export function createAccessCheck(options: AccessOptions): AccessCheck {
  const { host, allowRemote = false, token, hosts = [] } = options;
  const isLocal = isLoopback(host);
  if (!isLocal && !allowRemote)
    throw new RoundfoldError('usage', `${host} can be reached from other machines`, {
      remedy: 'Listen at 127.0.0.1, or allow it with --allow-remote and a token.',
    });
  if (!isLocal && (token === undefined || token.length < SHORTEST_TOKEN))
    throw new RoundfoldError(
      'usage',
      `listening at ${host} needs a token of ${SHORTEST_TOKEN} characters or more`,
      {
        remedy: `Set ROUNDFOLD_TOKEN; clients send it in the header ${TOKEN_HEADER}.`,
      },
    );
  const listed = new Set(hosts.map((name) => name.toLowerCase()));
  const names = new Set([...LOOPBACK_NAMES, bracketed(host).toLowerCase(), ...listed]);
  const expected = token === undefined ? undefined : digestOf(token);
  // A wildcard address is reached under names that nobody has listed, and a token guards it.
  const isAnyName = !isLocal && hosts.length === 0;

  return ({ headers }, what) => {
    if (!isAnyName && !names.has(hostName(headers.host))) return WRONG_HOST;
    // Programs send no Origin. A page in a browser does, and it may be anybody's.
    if (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host, listed))
      return WRONG_ORIGIN;
    if (headers['sec-fetch-site'] === 'cross-site') return WRONG_ORIGIN;
    if (expected === undefined || what === 'health') return undefined;
    const given = headers[TOKEN_HEADER] ?? passwordOf(headers.authorization, what);
    if (typeof given === 'string' && timingSafeEqual(digestOf(given), expected)) return undefined;
    return what === 'pages' ? NO_PASSWORD : NO_TOKEN;
  };
}

const SHORTEST_TOKEN = 16;

const WRONG_HOST: Refused = {
  status: 421,
  reason: 'wrong-host',
  message:
    'the Host header names another server; call the proxy by its address, or list the name in ROUNDFOLD_HOSTS (hosts in its configuration)',
};
const WRONG_ORIGIN: Refused = {
  status: 403,
  reason: 'web-page',
  message: 'requests from web pages are not accepted',
};
const NO_TOKEN: Refused = {
  status: 401,
  reason: 'no-token',
  message: `the header ${TOKEN_HEADER} is missing or wrong`,
};

/** Browsers cannot be told to send a header of ours, but ask for a password by themselves, as Prometheus can send one. */
const NO_PASSWORD: Refused = {
  ...NO_TOKEN,
  headers: { 'www-authenticate': 'Basic realm="roundfold: the token is the password", charset="UTF-8"' },
};

/**
 * The password in an `Authorization: Basic` header, whatever the name in front of it is. Only pages take it: elsewhere the
 * header is for the provider.
 */
function passwordOf(authorization: string | undefined, what: 'pages' | 'all'): string | undefined {
  if (what !== 'pages') return undefined;
  const [, encoded] = /^basic +([a-z0-9+/=_-]{1,2000})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  return decoded.slice(decoded.indexOf(':') + 1);
}

/** Compared by their hashes, so that neither length nor content shows in the time it takes. */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** The name in a Host header, without the port. */
function hostName(host: string | undefined): string {
  return (host ?? '').replace(/:\d{1,5}$/, '').toLowerCase();
}

/**
 * The dashboard's own page, served from here, or by a TLS server in front under a name that is listed. A name that is not
 * listed could be anybody's: this machine has no certificate of its own, so nothing tells whose page it is.
 */
function isOwnOrigin(origin: string, host: string | undefined, listed: ReadonlySet<string>): boolean {
  if (host === undefined) return false;
  const isSecure = origin.toLowerCase() === `https://${host.toLowerCase()}`;
  return isSecure ? listed.has(hostName(host)) : origin.toLowerCase() === `http://${host.toLowerCase()}`;
}
