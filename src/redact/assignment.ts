import { everythingBut, headerToken, holds, word, wordAndHyphen } from './alphabet.ts';
import { looksRandom } from './looks-random.ts';
import type { Scan, SecretRule, Span } from './scan.ts';
import { secretNames } from './secret-names.ts';

/** Values under a name that says that they are secret: `password=…`, `"apiKey": "…"`, `X-Api-Key: …`, `?token=…`. */
export const assignmentRule: SecretRule = { starts: ['=', ':'], find: findValue };

const LONGEST_NAME = 64;
const LONGEST_VALUE = 512;
const MOST_SPACES = 8;
const SPACES = new Set([' ', '\t']);
const QUOTES = new Set(['"', "'", '`']);
const bareCharacters = everythingBut('"\'`,;&()[]{}<>|\\=');
/** A bare value in front of one of these is code: a call, an index, a template. */
const CODE_FOLLOWS = new Set(['(', '[', '{']);

const LAST_LETTERS: ReadonlySet<string> = new Set(
  secretNames.flatMap(({ ending }) => [ending.slice(-1), ending.slice(-1).toUpperCase()]),
);

function findValue(scan: Scan, at: number): Span | undefined {
  const name = readName(scan.text, at);
  const kind = secretNames.find(({ ending }) => name.endsWith(ending))?.kind;
  if (kind === undefined) return undefined;
  const from = skipSpaces(scan.text, skipOperator(scan.text, at));
  const value = findBasic(scan, name, from) ?? readValue(scan, from);
  return value === undefined ? undefined : { kind, ...value };
}

/** The name in front of the sign, reduced to small letters and digits; empty where there is none. */
function readName(text: string, at: number): string {
  let end = at;
  const lowest = Math.max(0, at - MOST_SPACES);
  while (end > lowest && SPACES.has(text.charAt(end - 1))) end--;
  // `config["name"] =`, `"name":`, and both inside a string of JSON.
  if (text.charAt(end - 1) === ']' && QUOTES.has(text.charAt(end - 2))) end--;
  if (QUOTES.has(text.charAt(end - 1))) end--;
  while (end > lowest && text.charAt(end - 1) === '\\') end--;
  // Most names end here already.
  if (!LAST_LETTERS.has(text.charAt(end - 1))) return '';
  let start = end;
  const first = Math.max(0, end - LONGEST_NAME);
  while (start > first && holds(wordAndHyphen, text.charCodeAt(start - 1))) start--;
  return text.slice(start, end).replaceAll(/[-_]/g, '').toLowerCase();
}

/** Behind `=`, `:`, `:=`, `=>`, `==`. */
function skipOperator(text: string, at: number): number {
  let next = at + 1;
  while (next < at + 3 && (text.charAt(next) === '=' || text.charAt(next) === '>')) next++;
  return next;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at < from + MOST_SPACES && SPACES.has(text.charAt(at))) at++;
  return at;
}

type Value = Pick<Span, 'start' | 'end'>;

const LEAST_CREDENTIALS = 8;
const BASIC = /^\\{0,3}["'`]?basic +/i;

/** `Authorization: Basic …`: name and password in base64, which need not look random. */
function findBasic(scan: Scan, name: string, from: number): Value | undefined {
  if (!name.endsWith('authorization')) return undefined;
  const scheme = BASIC.exec(scan.text.slice(from, from + LONGEST_NAME))?.[0];
  if (scheme === undefined) return undefined;
  const start = from + scheme.length;
  const end = scan.endOfRun(headerToken, start);
  const isCredentials = end - start >= LEAST_CREDENTIALS && end - start <= LONGEST_VALUE;
  return isCredentials && !scan.isRedacted(end) ? { start, end } : undefined;
}

function readValue(scan: Scan, from: number): Value | undefined {
  const { text } = scan;
  let start = from;
  while (start < from + 3 && text.charAt(start) === '\\') start++;
  const quote = text.charAt(start);
  if (!QUOTES.has(quote)) return start === from ? readBareValue(scan, from) : undefined;
  const end = endOfQuoted(text, start + 1, quote, start > from);
  return end !== undefined && isSecret(text, start + 1, end) ? { start: start + 1, end } : undefined;
}

/** Where the quoted value ends; undefined when it holds white space, as sentences do, or is too long for a secret. */
function endOfQuoted(text: string, start: number, quote: string, isEscaped: boolean): number | undefined {
  for (let at = start; at <= start + LONGEST_VALUE && at < text.length; at++) {
    const character = text.charAt(at);
    if (character === quote || (isEscaped && character === '\\')) return at;
    if (character <= ' ') return undefined;
    if (character === '\\') at++;
  }
  return undefined;
}

function readBareValue(scan: Scan, start: number): Value | undefined {
  const { text } = scan;
  let end = scan.endOfRun(bareCharacters, start);
  if (end === start || end - start > LONGEST_VALUE || CODE_FOLLOWS.has(text.charAt(end))) return undefined;
  if (isCode(text.slice(start, end)) || !isSecret(text, start, end)) return undefined;
  // Padding of base64.
  while (end < text.length && text.charAt(end) === '=') end++;
  return { start, end };
}

/** A variable, a template, an address, a path, a date: what leads to a secret, or says something of it, is none. */
const REFERENCE = /^(?:\$[A-Za-z_{]|%\w+%|\{\{|<|[a-z]+:\/\/|\.{1,2}\/|~\/|\/\/|:|\/[^.]*\.|\d{4}-\d\d-\d\d)/;

function isSecret(text: string, start: number, end: number): boolean {
  return looksRandom(text, start, end) && !REFERENCE.test(text.slice(start, end));
}

const LONGEST_WORD_OF_CODE = 20;

/** `process.env.TOKEN_2`: names joined by dots. */
function isCode(value: string): boolean {
  const names = value.split('.');
  return names.length > 1 && names.every(isNameInCode);
}

function isNameInCode(name: string): boolean {
  if (name === '' || name.length > LONGEST_WORD_OF_CODE || /^\d/.test(name)) return false;
  for (let at = 0; at < name.length; at++) if (!holds(word, name.charCodeAt(at))) return false;
  return true;
}
