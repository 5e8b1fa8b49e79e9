/** Reads the value behind a name or sign, and judges whether it is a secret, a placeholder or code. */

import { everythingBut, type Scan } from './scan.ts';

/** A value as it stands in a text, without its quotes. */
export interface Value {
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

const LONGEST_VALUE = 512;
const QUOTES = new Set(['"', "'", '`']);
const bareCharacters = everythingBut('"\'`,;&()[]{}<>|\\=');
/** A bare value in front of one of these is code: a call, an index, a template. */
const CODE_FOLLOWS = new Set(['(', '[', '{']);

/** Whether the character is a quote of any language. */
export function isQuote(character: string): boolean {
  return QUOTES.has(character);
}

/** The value that begins here, quoted or not; undefined when there is none, or when it cannot be a secret. */
export function readValue(scan: Scan, from: number): Value | undefined {
  const { text } = scan;
  let start = from;
  while (start < from + 3 && text.charAt(start) === '\\') start++;
  const quote = text.charAt(start);
  if (!QUOTES.has(quote)) return start === from ? readBareValue(scan, from) : undefined;
  const end = endOfQuoted(text, start + 1, quote, start > from);
  return end === undefined ? undefined : { start: start + 1, end, isQuoted: true };
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
  if (isCode(text.slice(start, end))) return undefined;
  // Padding of base64.
  while (end < text.length && end < start + LONGEST_VALUE && text.charAt(end) === '=') end++;
  return scan.isRedacted(end) ? undefined : { start, end, isQuoted: false };
}

/** Whether a value was made by a generator, and neither leads to a secret nor holds the place of one. */
export function isRandomSecret(text: string, { start, end }: Value): boolean {
  return looksRandom(text, start, end) && !isNoSecret(text, start, end);
}

/** Names in code are joined by underscores. */
const JOINED_NAME = /^[a-zA-Z]+_/;
/** What ends a sentence, and padding: a word with it is still a word. */
const ENDINGS = new Set(['.', ':', '!', '?', '=']);

/** Whether a value can be a password that a person made up. */
export function isChosenSecret(text: string, value: Value): boolean {
  if (JOINED_NAME.test(text.slice(value.start, value.end))) return isRandomSecret(text, value);
  let end = value.end;
  while (end > value.start && ENDINGS.has(text.charAt(end - 1))) end--;
  return looksChosen(text, value.start, end) && !isNoSecret(text, value.start, value.end);
}

/** Whether a value under a name of this kind is secret, where the text can mean nothing but the value itself. */
export function isSecretOf(kind: string, text: string, value: Value): boolean {
  return kind === 'password' ? isChosenSecret(text, value) : isRandomSecret(text, value);
}

/** Whether a value leads to a secret, tells its sort or holds its place. */
function isNoSecret(text: string, start: number, end: number): boolean {
  return isFiller(text, start, end) || isReference(text.slice(start, end));
}

const LONGEST_NAME_IN_CODE = 20;
const NAME_IN_CODE = /^#?[A-Za-z_$][\w$]*$/;

/** `process.env.TOKEN_2`, `options?.apiKey`, `!isKey2`: names joined by dots, or a condition. */
function isCode(value: string): boolean {
  const names = value.split('.').map((name) => (name.endsWith('?') ? name.slice(0, -1) : name));
  if (names.length === 1) return value.startsWith('!') && NAME_IN_CODE.test(value.slice(1));
  return names.every(isNameInCode);
}

function isNameInCode(name: string): boolean {
  if (!NAME_IN_CODE.test(name)) return false;
  return name.length <= LONGEST_NAME_IN_CODE || !looksRandom(name, 0, name.length);
}

/** Enough to tell random from written, and little enough to be asked anywhere. */
const SAMPLE_LENGTH = 64;

/** Words that people write where a secret belongs, in small letters. */
const FILLERS = [
  ...[
    'your-',
    'your_',
    'yourapi',
    'yourkey',
    'yourtoken',
    'yoursecret',
    'yourpass',
    'example',
    'placeholder',
  ],
  ...['changeme', 'change-me', 'change_me', 'replace', 'insert', 'redacted', 'dummy', 'xxxxx', '****', '...'],
  ...['0000000', '1234567890abcdef', '…'],
];

/** Whether a value only holds the place of a secret: `sk-your-key-here`, `ghp_xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`. */
export function isFiller(text: string, start: number, end: number): boolean {
  const sample = text.slice(start, Math.min(end, start + SAMPLE_LENGTH)).toLowerCase();
  return FILLERS.some((filler) => sample.includes(filler));
}

/** What stands for a password where any word could be one: `pass`, `my_password`, `***`, `$PASSWORD`. */
const PLACE =
  /^(?:\$[A-Za-z_{(].*|%\w+%|\*+|\.+|x+|(?:my|some|the|db|user)?_?(?:pw|pwd|pass|passwd|password|secret|token))$/i;

/** Whether a value holds the place of a password, where every other value is one. */
export function isPlaceholder(text: string, start: number, end: number): boolean {
  return isFiller(text, start, end) || PLACE.test(text.slice(start, end));
}

/** A variable, a template, an address, a path, a date: what leads to a secret, or says something of it, is none. */
const REFERENCE =
  /^\\{0,3}(?:\$[A-Za-z_{(]|%\w+%|%[({]|\{\{|#\{|@\{|<|[a-z]+:\/\/|urn:|\.{1,2}\/|~\/|\/\/|:|\/[^.]*\.|\d{4}-\d\d-\d\d)/;
/** Names of types and of algorithms: `Uint8Array`, `sha256`. */
const TECHNICAL =
  /^(?:u?int|u|i|f|float|utf-?|base|sha-?|md|hmac|aes|rsa|argon|varchar|char|string|oauth|v)-?\d+(?:array|string|url|id)?$/i;
/** `url('./icon.png')` */
const CALL = /^\w{1,40}\(.*\)$/;
const SEPARATORS = /[|:,./_-]/;
const WORD = /^(?:[a-z]+|[A-Z][a-z]+|\d{1,4})$/;
const LONGEST_TECHNICAL = 24;

/** Whether a value leads to a secret or tells its sort: a variable, a template, a path, a type, a rule of validation. */
function isReference(value: string): boolean {
  return REFERENCE.test(value) || CALL.test(value) || isTechnical(value) || isWords(value);
}

function isTechnical(value: string): boolean {
  return value.length <= LONGEST_TECHNICAL && TECHNICAL.test(value);
}

/** `required|min:8`, `first-pass-2`: words and small numbers that are joined. */
function isWords(value: string): boolean {
  const pieces = value.split(SEPARATORS);
  return pieces.length > 1 && pieces.every((piece) => WORD.test(piece));
}

const LEAST_LENGTH = 8;
const LEAST_LETTERS_ALONE = 10;

/**
 * Whether a value looks made by a generator rather than written by a person: it keeps changing between small and
 * capital letters, digits and signs. Words, names in code, dates and numbers do not, even with a number in them.
 */
export function looksRandom(text: string, start: number, end: number): boolean {
  const { counted, changes, hasLetters, others, unreadable } = shapeOf(text, start, end);
  if (counted < LEAST_LENGTH || !hasLetters) return false;
  // `parseXMLFile`, `exchangeX509Token`: names have no more than one piece that cannot be read.
  if (others <= 1 && unreadable < 2) return false;
  if (others === 0) return counted >= LEAST_LETTERS_ALONE && changes >= counted / 4;
  return changes >= Math.max(3, counted / 8);
}

const LEAST_CHOSEN = 6;

/** Whether a value looks like a password that a person made up: letters and something else, or letters that are no words. */
function looksChosen(text: string, start: number, end: number): boolean {
  const { counted, changes, hasLetters, others, unreadable } = shapeOf(text, start, end);
  if (counted < LEAST_CHOSEN || !hasLetters) return false;
  return others > 0 || (counted >= LEAST_LENGTH && changes >= 1 && unreadable >= 1);
}

interface Shape {
  /** Characters that tell something: hyphens, underscores, dots and slashes join words and tell nothing. */
  readonly counted: number;
  /** How often small letters, capitals, digits and signs take turns. */
  readonly changes: number;
  readonly hasLetters: boolean;
  /** Runs of digits and signs. */
  readonly others: number;
  /** Pieces between changes to a capital that are one letter long or have no vowel. */
  readonly unreadable: number;
}

const JOINTS = /[-_./]/g;
// Letters of other languages are taken for small ones.
const RUNS = /[A-Z]+|[a-z\u0080-\uffff]+|\d+|[^A-Za-z\d\u0080-\uffff]+/g;
const OTHERS = /[^A-Za-z\u0080-\uffff]+/g;
const PIECES = /[A-Z]+(?![a-z])|[A-Z]?[a-z\u0080-\uffff]+/g;
const READABLE = /[aeiouy\u0080-\uffff]/i;

function shapeOf(text: string, start: number, end: number): Shape {
  const sample = text.slice(start, Math.min(end, start + SAMPLE_LENGTH));
  const telling = sample.replaceAll(JOINTS, '');
  const pieces = sample.match(PIECES) ?? [];
  return {
    counted: telling.length,
    changes: (telling.match(RUNS)?.length ?? 1) - 1,
    hasLetters: pieces.length > 0,
    others: telling.match(OTHERS)?.length ?? 0,
    unreadable: pieces.filter((piece) => piece.length === 1 || !READABLE.test(piece)).length,
  };
}
