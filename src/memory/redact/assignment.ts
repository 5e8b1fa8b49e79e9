import { headerToken, wordAndHyphen } from './alphabet.ts';
import { looksRandom } from './looks-random.ts';
import type { Scan, SecretRule, Span } from './scan.ts';
import { kindUnder, lastLettersOfNames } from './secret-names.ts';
import { isQuote, isRandomSecret, isSecretOf, readValue, type Value } from './value.ts';

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
