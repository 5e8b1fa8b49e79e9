import { everythingBut, headerToken, type Scan, type SecretRule, type Span, wordAndHyphen } from './scan.ts';
import {
  isChosenSecret,
  isQuote,
  isRandomSecret,
  isSecretOf,
  looksRandom,
  readValue,
  type Value,
} from './secret-value.ts';

/** A name that says that its value is secret. */
export interface SecretName {
  /** How the name ends, in small letters and without hyphens and underscores. */
  readonly ending: string;
  readonly kind: string;
  /** Longer words end like it (`bypass`, `config`): it has to be a word of the name by itself. */
  readonly isWord?: true;
}

/** Names of secrets in assignments, headers, query strings, flags, JSON and XML. The first that fits wins. */
export const secretNames: readonly SecretName[] = [
  { ending: 'secretaccesskey', kind: 'aws-secret-key' },
  { ending: 'awssecretkey', kind: 'aws-secret-key' },
  { ending: 'password', kind: 'password' },
  { ending: 'passwd', kind: 'password' },
  { ending: 'passphrase', kind: 'password' },
  { ending: 'passcode', kind: 'password' },
  { ending: 'passwort', kind: 'password' },
  { ending: 'kennwort', kind: 'password' },
  { ending: 'motdepasse', kind: 'password' },
  { ending: 'contrasena', kind: 'password' },
  { ending: 'senha', kind: 'password', isWord: true },
  { ending: 'pass', kind: 'password', isWord: true },
  { ending: 'pwd', kind: 'password', isWord: true },
  { ending: 'apikey', kind: 'api-key' },
  { ending: 'appkey', kind: 'api-key' },
  { ending: 'applicationkey', kind: 'api-key' },
  { ending: 'licensekey', kind: 'api-key' },
  { ending: 'accesskey', kind: 'api-key' },
  { ending: 'secretkey', kind: 'secret' },
  { ending: 'secretkeybase', kind: 'secret' },
  { ending: 'privatekey', kind: 'secret' },
  { ending: 'signingkey', kind: 'secret' },
  { ending: 'encryptionkey', kind: 'secret' },
  { ending: 'accountkey', kind: 'secret' },
  { ending: 'storagekey', kind: 'secret' },
  { ending: 'sharedkey', kind: 'secret' },
  { ending: 'masterkey', kind: 'secret' },
  { ending: 'rolekey', kind: 'secret' },
  { ending: 'authkey', kind: 'secret' },
  { ending: 'secret', kind: 'secret' },
  { ending: 'credential', kind: 'secret' },
  { ending: 'credentials', kind: 'secret' },
  { ending: 'sig', kind: 'signature', isWord: true },
  { ending: 'amzsignature', kind: 'signature' },
  { ending: 'token', kind: 'token' },
  { ending: 'jwt', kind: 'token', isWord: true },
  { ending: 'auth', kind: 'credentials', isWord: true },
  { ending: 'authorization', kind: 'credentials' },
];

/** The last letters of all names: most names end with another and need no look. */
const lastLettersOfNames: ReadonlySet<string> = new Set(
  secretNames.flatMap(({ ending }) => [ending.slice(-1), ending.slice(-1).toUpperCase()]),
);

/** What is secret under a name as it is written, such as `DB_PASSWORD`, `dbPassword` or `X-Api-Key`. */
export function kindUnder(name: string): string | undefined {
  const plain = name.replaceAll(/[-_]/g, '').toLowerCase();
  return secretNames.find(
    ({ ending, isWord }) => plain.endsWith(ending) && (isWord !== true || endsWithWord(name, ending.length)),
  )?.kind;
}

const WORD = /^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)$/;

/** Whether a word of this length ends the name: nothing, a hyphen, an underscore or a change to a capital is before it. */
function endsWithWord(name: string, length: number): boolean {
  const start = name.length - length;
  if (!WORD.test(name.slice(start))) return false;
  return !/[a-zA-Z]/.test(name.charAt(start - 1)) || /^[a-z][A-Z]$/.test(name.slice(start - 1, start + 1));
}

/** Values under a name that says that they are secret: `password=…`, `"apiKey": "…"`, `X-Api-Key: …`, `<token>…</token>`. */
export const assignmentRule: SecretRule = { starts: ['=', ':', '>'], find: findValue };

const LONGEST_NAME = 64;
const LONGEST_VALUE = 512;
const MOST_SPACES = 8;
const SPACES = new Set([' ', '\t']);

function findValue(scan: Scan, at: number, sign: string): Span | undefined {
  const name = readName(scan, at);
  if (sign === '>') return name === undefined ? undefined : findElement(scan, at, name);
  const cookie = sign === '=' && scan.cookiesFrom !== undefined ? findCookie(scan, at) : undefined;
  if (cookie !== undefined) return cookie;
  // `--- PASS: TestLogin` is the verdict of a test.
  if (name === undefined || (name.text === 'PASS' && sign === ':')) return undefined;
  const from = skipSpaces(scan.text, skipOperator(scan.text, at), name.isQuoted);
  if (sign === ':' && /cookie$/i.test(name.text)) scan.cookiesFrom = from;
  const kind = kindUnder(name.text === 'value' ? readNameBefore(scan, name.start) : name.text);
  if (kind === undefined) return undefined;
  const value = findScheme(scan, name.text, from) ?? findAssigned(scan, { at, from, name, kind });
  return value === undefined ? undefined : { kind, start: value.start, end: value.end };
}

interface Name {
  /** As it is written. */
  readonly text: string;
  readonly start: number;
  readonly isQuoted: boolean;
}

/** The letters on which names end that matter here. */
const LAST_LETTERS = new Set([...lastLettersOfNames, 'e', 'E']);

/** The name in front of the sign; undefined where there is none, or one that cannot matter. */
function readName(scan: Scan, at: number): Name | undefined {
  const { text, settledTo } = scan;
  let end = at;
  const lowest = Math.max(settledTo, at - MOST_SPACES);
  while (end > lowest && SPACES.has(text.charAt(end - 1))) end--;
  // `config["name"] =`, `"name":`, and both inside a string of JSON.
  if (text.charAt(end - 1) === ']' && isQuote(text.charAt(end - 2))) end--;
  const isQuoted = isQuote(text.charAt(end - 1));
  if (isQuoted) end--;
  while (end > lowest && text.charAt(end - 1) === '\\') end--;
  // Most names end here already.
  if (end <= settledTo || !LAST_LETTERS.has(text.charAt(end - 1))) return undefined;
  const start = scan.startOfRun(wordAndHyphen, end, LONGEST_NAME);
  return { text: text.slice(start, end), start, isQuoted };
}

const MOST_BETWEEN = 24;

/** The name in `name: DB_PASSWORD, value: …`: the word in front of the one that begins here. */
function readNameBefore(scan: Scan, before: number): string {
  const { text, settledTo } = scan;
  let end = before;
  const lowest = Math.max(settledTo, before - MOST_BETWEEN);
  while (end > lowest && /[\s,"'\\]/.test(text.charAt(end - 1))) end--;
  return text.slice(scan.startOfRun(wordAndHyphen, end, LONGEST_NAME), end);
}

/** Behind `=`, `:`, `:=`, `=>`, `==`. */
function skipOperator(text: string, at: number): number {
  let next = at + 1;
  while (next < at + 3 && (text.charAt(next) === '=' || text.charAt(next) === '>')) next++;
  return next;
}

/** Behind a quoted name the value may stand on another line, as long as it is quoted as well. */
function skipSpaces(text: string, from: number, mayBreak: boolean): number {
  let at = from;
  while (at < from + MOST_SPACES && SPACES.has(text.charAt(at))) at++;
  if (!mayBreak || (text.charAt(at) !== '\n' && text.charAt(at) !== '\r')) return at;
  let next = at;
  while (next < at + LONGEST_NAME && /\s/.test(text.charAt(next))) next++;
  return isQuote(text.charAt(next)) ? next : at;
}

const LEAST_CREDENTIALS = 8;
const SCHEME = /^\\{0,3}["'`]?(?:basic|token|apikey|key|negotiate|ntlm) +/i;

/** `Authorization: Basic …`: name and password in base64, which need not look random, or a token behind its scheme. */
function findScheme(scan: Scan, name: string, from: number): Value | undefined {
  if (!/authorization$/i.test(name)) return undefined;
  const scheme = SCHEME.exec(scan.text.slice(from, from + LONGEST_NAME))?.[0];
  if (scheme === undefined) return undefined;
  const start = from + scheme.length;
  const end = scan.endOfRun(headerToken, start);
  const isCredentials = end - start >= LEAST_CREDENTIALS && end - start <= LONGEST_VALUE;
  if (!isCredentials || scan.isRedacted(end)) return undefined;
  return /basic/i.test(scheme) || looksRandom(scan.text, start, end)
    ? { start, end, isQuoted: false }
    : undefined;
}

interface Assignment {
  /** Where the sign stands, and where the value begins. */
  readonly at: number;
  readonly from: number;
  readonly name: Name;
  readonly kind: string;
}

function findAssigned(scan: Scan, assignment: Assignment): Value | undefined {
  const value = readValue(scan, assignment.from);
  if (value === undefined) return undefined;
  // `PWD=/home/me`: where a shell stands.
  if (assignment.kind === 'password' && scan.text.charAt(value.start) === '/') return undefined;
  const isSecret = isData(scan.text, assignment, value)
    ? isSecretOf(assignment.kind, scan.text, value)
    : isRandomSecret(scan.text, value);
  return isSecret ? value : undefined;
}

/** Whether the value is what it is, rather than a name in code: quoted, tight behind its sign, or the last of its line. */
function isData(text: string, { at, from, name }: Assignment, { end, isQuoted }: Value): boolean {
  if (isQuoted) return true;
  const next = text.charAt(end);
  const endsLine = next === '' || next === '\n' || next === '\r' || next === '\\' || isQuote(next);
  if (text.charAt(at) === ':') return endsLine;
  const isTight = from === at + 1 && name.start + name.text.length === at;
  return isTight && (endsLine || next === ' ' || next === ';' || next === '&');
}

/** `<password>…</password>`. */
function findElement(scan: Scan, at: number, name: Name): Span | undefined {
  const kind = scan.text.charAt(name.start - 1) === '<' ? kindUnder(name.text) : undefined;
  const value = kind === undefined ? undefined : readValue(scan, at + 1);
  if (kind === undefined || value === undefined || scan.text.charAt(value.end) !== '<') return undefined;
  return isSecretOf(kind, scan.text, value) ? { kind, start: value.start, end: value.end } : undefined;
}

/** `session=…` in a header of cookies: every value in it that looks random. */
function findCookie(scan: Scan, at: number): Span | undefined {
  const value = readValue(scan, at + 1);
  if (value === undefined || !isRandomSecret(scan.text, value)) return undefined;
  return { kind: 'cookie', start: value.start, end: value.end };
}

const OPENING_LENGTH = 4;

/** A header of cookies ends with its line, or with the string that it stands in. */
export const cookieEndRule: SecretRule = {
  starts: ['\n', '"', "'", '`'],
  find(scan, at, start) {
    if (scan.cookiesFrom !== undefined && (start === '\n' || at > scan.cookiesFrom + OPENING_LENGTH)) {
      scan.cookiesFrom = undefined;
    }
    return undefined;
  },
};

/** `the password is x`, and `login x password y` of a `.netrc`. Only what looks random: other words are prose. */
export const spokenRule: SecretRule = {
  starts: ['password ', 'Password ', 'passwd ', 'passphrase ', 'passwort ', 'Passwort '],
  find(scan, at, start) {
    if (!scan.isWordStart(at)) return undefined;
    const behind = at + start.length;
    const verb = ['is ', 'was ', 'ist ', 'to '].find((each) => scan.text.startsWith(each, behind)) ?? '';
    const value = readValue(scan, behind + verb.length);
    if (value === undefined || !isRandomSecret(scan.text, value)) return undefined;
    return { kind: 'password', start: value.start, end: value.end };
  },
};

const field = everythingBut(':"\'`<>()[]{}\\,;|/@');

/** The password in a line of a `.pgpass`: `host:port:database:user:password`. */
export const pgpassRule: SecretRule = {
  starts: [':5432:', ':5433:', ':6432:'],
  find(scan, at, start) {
    const database = scan.endOfRun(field, at + start.length);
    if (database === at + start.length || scan.text.charAt(database) !== ':') return undefined;
    const user = scan.endOfRun(field, database + 1);
    if (user === database + 1 || scan.text.charAt(user) !== ':') return undefined;
    const value = readValue(scan, user + 1);
    if (value === undefined || value.isQuoted || !isChosenSecret(scan.text, value)) return undefined;
    return { kind: 'password', start: value.start, end: value.end };
  },
};

/** How many words a mnemonic has (BIP 39), and how long they are. */
const COUNTS: ReadonlySet<number> = new Set([12, 15, 18, 21, 24]);
const MOST_WORDS = 24;
const LONGEST_WORD = 8;
const LEAST_WORD = 3;

/** The words from which a wallet can be restored, behind what announces them. */
export const mnemonicRule: SecretRule = {
  starts: [
    'seed phrase',
    'Seed phrase',
    'recovery phrase',
    'Recovery phrase',
    'mnemonic',
    'Mnemonic',
    'MNEMONIC',
  ],
  find(scan, at, start) {
    const from = skipAnnouncement(scan.text, at + start.length);
    return from === undefined ? undefined : findWords(scan, from);
  },
};

const MOST_ANNOUNCED = 6;

/** Behind a colon, an equals sign, an `is` and a quote. */
function skipAnnouncement(text: string, from: number): number | undefined {
  const length = /^"?(?:\s*[:=]|\s+is:?)\s*["']?/.exec(text.slice(from, from + MOST_ANNOUNCED))?.[0].length;
  return length === undefined ? undefined : from + length;
}

function findWords(scan: Scan, start: number): Span | undefined {
  let end = start;
  let count = 0;
  for (let at = start; count <= MOST_WORDS; count++) {
    const wordEnd = endOfWord(scan.text, at);
    if (wordEnd - at < LEAST_WORD || wordEnd - at > LONGEST_WORD) break;
    end = wordEnd;
    at = scan.text.charAt(end) === ' ' ? end + 1 : end;
  }
  const isWhole = !/[\w-]/.test(scan.text.charAt(end)) && !scan.isRedacted(end) && !scan.isRedacted(end + 1);
  return COUNTS.has(count) && isWhole ? { kind: 'mnemonic', start, end } : undefined;
}

function endOfWord(text: string, from: number): number {
  let end = from;
  while (end <= from + LONGEST_WORD && text.charAt(end) >= 'a' && text.charAt(end) <= 'z') end++;
  return end;
}
