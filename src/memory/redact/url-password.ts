import { everythingBut, type Scan, type SecretRule, type Span } from './scan.ts';
import { isPlaceholder, looksRandom } from './secret-value.ts';

const SEPARATOR = '://';
const COLON = 58;
const AT_SIGN = 64;
const userCharacters = everythingBut('/?#@:=&"\'`<>()[]{}\\,;|');
const passwordCharacters = everythingBut('/?#@"\'`<>()[]{}\\,;|');
const LONGEST = 512;
const LEAST_TOKEN = 16;

/** The password in `scheme://user:password@host`, or the user name, when it is a token. The host stays. */
export const urlPasswordRule: SecretRule = { starts: [SEPARATOR], find: findPassword };

function findPassword(scan: Scan, at: number): Span | undefined {
  const { text } = scan;
  const start = at + SEPARATOR.length;
  const end = scan.endOfRun(userCharacters, start);
  const next = text.charCodeAt(end);
  if (next === AT_SIGN) return isToken(text, start, end) ? { kind: 'url-token', start, end } : undefined;
  if (next !== COLON) return undefined;
  const password = readPassword(scan, end + 1);
  if (password !== undefined && isToken(text, start, end)) scan.announce({ kind: 'url-token', start, end });
  return password;
}

function isToken(text: string, start: number, end: number): boolean {
  return end - start >= LEAST_TOKEN && end - start <= LONGEST && looksRandom(text, start, end);
}

function readPassword(scan: Scan, start: number): Span | undefined {
  const { text } = scan;
  const end = scan.endOfRun(passwordCharacters, start);
  if (end === start || end - start > LONGEST || text.charCodeAt(end) !== AT_SIGN) return undefined;
  return isPlaceholder(text, start, end) ? undefined : { kind: 'url-password', start, end };
}
