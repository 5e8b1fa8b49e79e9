import { everythingBut } from './alphabet.ts';
import { looksChosen, looksRandom } from './looks-random.ts';
import { isFiller, isReference } from './placeholder.ts';
import type { Scan } from './scan.ts';

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

/** The value that begins here, quoted or not; undefined where there is none, or one that no secret can be. */
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
