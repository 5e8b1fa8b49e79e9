import { type Alphabet, holds, lettersAndDigits, type Scan, type SecretRule, type Span } from './scan.ts';
import { isFiller, looksRandom } from './secret-value.ts';

/** A secret that says what it is: known letters, then runs of known alphabets, joined by dots. */
export interface TokenKind {
  /** What is written in the place of the secret. */
  readonly kind: string;
  /** To the letter. Of several that fit, the longest is tried first. */
  readonly prefixes: readonly string[];
  readonly parts: readonly Part[];
  /** What has to stand directly in front of the prefix, and belongs to the secret. */
  readonly before?: Part;
  /** Words of other meanings begin with the prefix too. */
  readonly mustLookRandom?: true;
  /** The prefix only announces the secret and stays in the text. */
  readonly keepsPrefix?: true;
}

/** A run of characters of one alphabet. One that is longer than `most` is something else. */
export interface Part {
  readonly alphabet: Alphabet;
  readonly least: number;
  readonly most: number;
  readonly isOptional?: true;
}

/** A run of at least so many characters, and at most so many. */
export function run(alphabet: Alphabet, least: number, most = Number.POSITIVE_INFINITY): Part {
  return { alphabet, least, most };
}

/** A run of exactly so many characters. */
export function exactly(alphabet: Alphabet, length: number): Part {
  return { alphabet, least: length, most: length };
}

/** A run that may be missing, together with the dot in front of it. */
export function optional(alphabet: Alphabet): Part {
  return { alphabet, least: 1, most: Number.POSITIVE_INFINITY, isOptional: true };
}

const DOT = 46;

/** The rule that finds the secrets of a kind. */
export function tokenRule(kind: TokenKind): SecretRule {
  return { starts: kind.prefixes, find: (scan, at, prefix) => findToken(scan, kind, at, prefix) };
}

/** A secret under the name of its kind, where the text that a token would have in front of its prefix begins with it. */
export function nameToken(scan: Scan, span: Span, tokens: readonly TokenKind[]): Span {
  for (const token of tokens) {
    for (let length = token.before?.least ?? 0; length <= (token.before?.most ?? 0); length++) {
      const at = span.start + length;
      const prefix = token.prefixes.find((each) => scan.text.startsWith(each, at));
      const found = prefix === undefined ? undefined : findToken(scan, token, at, prefix);
      if (found?.start === span.start && found.end === span.end) return found;
    }
  }
  return span;
}

function findToken(scan: Scan, token: TokenKind, at: number, prefix: string): Span | undefined {
  const start = startOf(scan, token, at);
  if (start === undefined) return undefined;
  const from = at + prefix.length;
  const end = endOfParts(scan, token, from);
  if (end === undefined || wasJudged(scan, token, end)) return undefined;
  if (token.mustLookRandom === true && !looksRandom(scan.text, from, end)) return undefined;
  if (isFiller(scan.text, from, end)) return undefined;
  return { kind: token.kind, start: token.keepsPrefix === true ? from : start, end };
}

/** Where the secret begins; undefined where it cannot. */
function startOf(scan: Scan, { before }: TokenKind, at: number): number | undefined {
  if (before === undefined) return scan.isWordStart(at) ? at : undefined;
  const start = scan.startOfRun(before.alphabet, at, before.most + 1);
  return at - start < before.least || at - start > before.most ? undefined : start;
}

/** Whether what was taken out behind it was judged together with it: it touches it, or a dot joins the two. */
function wasJudged(scan: Scan, { parts }: TokenKind, end: number): boolean {
  const isJoined = parts.length > 1 && scan.text.charCodeAt(end) === DOT;
  return scan.isRedacted(isJoined ? end + 1 : end);
}

function endOfParts(scan: Scan, { parts }: TokenKind, from: number): number | undefined {
  let end = from;
  for (const [index, { alphabet, least, most, isOptional }] of parts.entries()) {
    const start = index === 0 ? from : end + 1;
    const isThere =
      (index === 0 || scan.text.charCodeAt(end) === DOT) && holds(alphabet, scan.text.charCodeAt(start));
    if (!isThere) return isOptional === true ? end : undefined;
    end = scan.endOfRun(alphabet, start);
    if (end - start < least || end - start > most) return undefined;
  }
  // What has a length of its own ends there: a letter of another alphabet would make it longer.
  const isBounded = Number.isFinite(parts.at(-1)?.most);
  return isBounded && holds(lettersAndDigits, scan.text.charCodeAt(end)) ? undefined : end;
}
