import { holds, lettersAndDigits } from './alphabet.ts';
import { looksRandom } from './looks-random.ts';
import { isFiller } from './placeholder.ts';
import type { Scan, SecretRule, Span } from './scan.ts';
import type { TokenKind } from './token-kind.ts';

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
