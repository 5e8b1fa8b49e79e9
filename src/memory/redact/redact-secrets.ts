import { assignmentRule, cookieEndRule, mnemonicRule, pgpassRule, spokenRule } from './assignment.ts';
import { flagRule, programEndRule, programFlagRule, programRule } from './command-line.ts';
import { tokenKinds } from './kinds/all.ts';
import { privateKeyRule } from './private-key.ts';
import { marker, Scan, type SecretRule, type Span } from './scan.ts';
import { nameToken, tokenRule } from './token.ts';
import { urlPasswordRule } from './url-password.ts';

/** A secret that was taken out: what it was, and where it stood in the text that came in, in code units. */
export interface FoundSecret {
  readonly kind: string;
  readonly start: number;
  readonly length: number;
}

/** A text without its secrets. */
export interface Redaction {
  /** The very text that came in when nothing was found. */
  readonly text: string;
  /** In the order of the text. Empty when nothing was found. */
  readonly found: readonly FoundSecret[];
}

/**
 * Replaces every secret that is known by its shape (keys and tokens of about a hundred vendors, JWTs, private keys,
 * hashes of passwords), by its name (`DB_PASS=`, `"api_key": `, `--token `, `<password>`, a cookie) or by its place
 * (`://user:password@host`, `curl -u user:password`, `.pgpass`) by `[redacted kind]`. What only holds the place of a
 * secret stays, and so do hashes of commits, UUIDs and checksums. A passphrase of ordinary words is not recognised.
 *
 * The same text always gives the same answer, and a redacted text stays as it is. The time is linear in the length of
 * the text, whatever it holds. Throws nothing.
 */
export function redactSecrets(text: string): Redaction {
  const spans = findSecrets(text);
  if (spans.length === 0) return { text, found: [] };
  const pieces: string[] = [];
  let written = 0;
  for (const { kind, start, end } of spans) {
    pieces.push(text.slice(written, start), marker(kind));
    written = end;
  }
  pieces.push(text.slice(written));
  const found = spans.map(({ kind, start, end }) => ({ kind, start, length: end - start }));
  return { text: pieces.join(''), found };
}

/** Rules that only note something stand before those that find something at the same place. */
const rules: readonly SecretRule[] = [
  cookieEndRule,
  programEndRule,
  programRule,
  ...tokenKinds.map(tokenRule),
  privateKeyRule,
  urlPasswordRule,
  programFlagRule,
  flagRule,
  pgpassRule,
  spokenRule,
  mnemonicRule,
  assignmentRule,
];

/** Tokens that begin in front of the letters by which they are known. */
const tokensWithFront = tokenKinds.filter(({ before }) => before !== undefined);

interface Start {
  readonly start: string;
  readonly rule: SecretRule;
}

const ASCII = 128;
/** ASCII, and one for all the rest and for the end of the text. */
const COLUMNS = ASCII + 1;

/** By the two code units they begin with; the longest first, and otherwise in the order of the rules. */
const startsByCodes: readonly (readonly Start[] | undefined)[] = indexStarts();

function indexStarts(): readonly (readonly Start[] | undefined)[] {
  const byCodes: (Start[] | undefined)[] = Array.from({ length: ASCII * COLUMNS });
  for (const rule of rules) {
    for (const start of rule.starts) {
      const row = start.charCodeAt(0) * COLUMNS;
      const columns =
        start.length > 1 ? [start.charCodeAt(1)] : Array.from({ length: COLUMNS }, (_, code) => code);
      for (const column of columns)
        byCodes[row + column] = [...(byCodes[row + column] ?? []), { start, rule }];
    }
  }
  for (const starts of byCodes) starts?.sort((one, other) => other.start.length - one.start.length);
  return byCodes;
}

const noStarts: readonly Start[] = [];

function startsAt(text: string, at: number): readonly Start[] {
  const code = text.charCodeAt(at);
  if (code >= ASCII) return noStarts;
  const next = at + 1 < text.length ? Math.min(text.charCodeAt(at + 1), ASCII) : ASCII;
  return startsByCodes[code * COLUMNS + next] ?? noStarts;
}

function findSecrets(text: string): readonly Span[] {
  const scan = new Scan(text);
  const spans: Span[] = [];
  for (let at = 0; at < text.length; at++) {
    // What a name announces stands further on: a token there that says itself what it is goes before it.
    const announced = scan.announcedAt(at);
    const found = findAt(scan, at, announced === undefined);
    const here = found ?? (announced && nameToken(scan, announced, tokensWithFront));
    if (here === undefined) continue;
    spans.push(here);
    scan.settledTo = here.end;
    at = here.end - 1;
  }
  return spans;
}

/** The secret that is known to begin here, or before. Those that begin further on are announced. */
function findAt(scan: Scan, at: number, mayAnnounce: boolean): Span | undefined {
  for (const { start, rule } of startsAt(scan.text, at)) {
    if (!scan.text.startsWith(start, at)) continue;
    const span = rule.find(scan, at, start);
    if (span === undefined) continue;
    if (span.start <= at) return span;
    if (mayAnnounce) scan.announce(span);
  }
  return undefined;
}
