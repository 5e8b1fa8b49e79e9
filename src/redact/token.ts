import { holds } from './alphabet.ts';
import { looksRandom } from './looks-random.ts';
import type { Scan, SecretRule, Span } from './scan.ts';
import type { TokenPattern } from './token-patterns.ts';

const DOT = 46;

/** The rule that finds the secrets of a pattern. */
export function tokenRule(pattern: TokenPattern): SecretRule {
  return { starts: pattern.prefixes, find: (scan, at, prefix) => findToken(scan, pattern, at, prefix) };
}

function findToken(scan: Scan, pattern: TokenPattern, at: number, prefix: string): Span | undefined {
  if (!scan.isWordStart(at)) return undefined;
  const from = at + prefix.length;
  const end = endOfSegments(scan, pattern, from);
  if (end === undefined || wasJudged(scan, pattern, end)) return undefined;
  const length = end - from;
  if (length < pattern.least || length > (pattern.most ?? length)) return undefined;
  if (pattern.mustLookRandom === true && !looksRandom(scan.text, from, end)) return undefined;
  return { kind: pattern.kind, start: pattern.keepsPrefix === true ? from : at, end };
}

/** Whether what was taken out behind it was judged together with it: it touches it, or a dot joins the two. */
function wasJudged(scan: Scan, { segments }: TokenPattern, end: number): boolean {
  const isJoined = segments !== undefined && scan.text.charCodeAt(end) === DOT;
  return scan.isRedacted(isJoined ? end + 1 : end);
}

function endOfSegments(scan: Scan, { alphabet, segments }: TokenPattern, from: number): number | undefined {
  let end = scan.endOfRun(alphabet, from);
  let count = end > from ? 1 : 0;
  while (count > 0 && count < (segments?.most ?? 1)) {
    const isJoined = scan.text.charCodeAt(end) === DOT && holds(alphabet, scan.text.charCodeAt(end + 1));
    if (!isJoined) break;
    end = scan.endOfRun(alphabet, end + 1);
    count++;
  }
  return count < (segments?.least ?? 1) ? undefined : end;
}
