import { assignmentRule } from './assignment.ts';
import { privateKeyRule } from './private-key.ts';
import { marker, Scan, type SecretRule, type Span } from './scan.ts';
import { tokenRule } from './token.ts';
import { tokenPatterns } from './token-patterns.ts';
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
 * Replaces every secret that is known by its shape (keys and tokens of providers, JWTs, private keys, bearer tokens,
 * passwords in URLs) or by its name (`password=`, `"api_key": `, with a value that looks random) by `[redacted kind]`.
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

const rules: readonly SecretRule[] = [
  ...tokenPatterns.map(tokenRule),
  privateKeyRule,
  urlPasswordRule,
  assignmentRule,
];

interface Start {
  readonly start: string;
  readonly rule: SecretRule;
}

/** By the code unit they begin with, in the order of the rules. */
const startsByCode: readonly (readonly Start[] | undefined)[] = indexStarts();

function indexStarts(): readonly (readonly Start[] | undefined)[] {
  const byCode: (Start[] | undefined)[] = Array.from({ length: 128 });
  for (const rule of rules) {
    for (const start of rule.starts) {
      const code = start.charCodeAt(0);
      byCode[code] = [...(byCode[code] ?? []), { start, rule }];
    }
  }
  return byCode;
}

function findSecrets(text: string): readonly Span[] {
  const scan = new Scan(text);
  const spans: Span[] = [];
  // What a name announces stands further on: a token there that says itself what it is goes before it.
  let announced: Span | undefined;
  for (let at = 0; at < text.length; at++) {
    const starts = startsByCode[text.charCodeAt(at)];
    const found = starts === undefined ? undefined : findAt(scan, at, starts);
    const here = found?.start === at || announced?.start !== at ? found : announced;
    if (here === undefined) continue;
    if (here.start > at) {
      if (announced === undefined || announced.start < at) announced = here;
      continue;
    }
    spans.push(here);
    scan.settledTo = here.end;
    at = here.end - 1;
  }
  return spans;
}

function findAt(scan: Scan, at: number, starts: readonly Start[]): Span | undefined {
  for (const { start, rule } of starts) {
    if (!scan.text.startsWith(start, at)) continue;
    const span = rule.find(scan, at, start);
    if (span !== undefined) return span;
  }
  return undefined;
}
