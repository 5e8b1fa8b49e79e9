import { tokenKinds } from '../../src/memory/redact/kinds/all.ts';
import type { Alphabet } from '../../src/memory/redact/scan.ts';
import type { Part, TokenKind } from '../../src/memory/redact/token.ts';

// Every secret of the tests is put together here, so that no scanner takes a file for a leak.

/** Letters that look random and are always the same: every class of the alphabet, in no order. */
export function randomLetters(length: number, alphabet?: Alphabet): string {
  const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const letters = all.filter((letter) => /[A-Za-z0-9]/.test(letter) && isOf(letter, alphabet));
  const at = (index: number) => letters[(index * 37 + 11 * (index % 5)) % letters.length];
  return Array.from({ length }, (_, index) => at(index)).join('');
}

function isOf(letter: string, alphabet: Alphabet | undefined): boolean {
  return alphabet === undefined || alphabet.ascii[letter.charCodeAt(0)] === 1;
}

/** A token of a kind, in a text of its own. */
export interface TokenSample {
  readonly token: TokenKind;
  readonly kind: string;
  readonly prefix: string;
  readonly secret: string;
  /** With the prefix, which may announce the secret rather than belong to it. */
  readonly text: string;
  readonly expected: string;
}

/** A token for every prefix of every kind, as short as the kind allows. */
export const tokenSamples: readonly TokenSample[] = tokenKinds.flatMap((token) =>
  token.prefixes.map((prefix) => sampleOf(token, prefix)),
);

function sampleOf(token: TokenKind, prefix: string): TokenSample {
  const { kind, parts, before } = token;
  const rest = parts.filter(({ isOptional }) => isOptional !== true).map(shortest);
  const front = before === undefined ? '' : shortest(before);
  const isKept = token.keepsPrefix === true;
  const text = front + prefix + rest.join('.');
  const redacted = `[redacted ${kind}]`;
  return {
    ...{ token, kind, prefix, text },
    secret: isKept ? rest.join('.') : text,
    expected: isKept ? prefix + redacted : redacted,
  };
}

function shortest({ alphabet, least }: Part): string {
  return randomLetters(least, alphabet);
}

/** Lines of a private key. */
export const pemLines = [randomLetters(64), randomLetters(64), `${randomLetters(20)}==`];

/** `-----BEGIN … -----`, written so that it is none here. */
export function pem(label: string, lines: readonly string[], lineBreak = '\n'): string {
  const dashes = '-'.repeat(5);
  return [`${dashes}BEGIN ${label}${dashes}`, ...lines, `${dashes}END ${label}${dashes}`].join(lineBreak);
}
