import { everythingBut } from './alphabet.ts';
import type { Scan, SecretRule, Span } from './scan.ts';

const SEPARATOR = '://';
const COLON = 58;
const AT_SIGN = 64;
const userCharacters = everythingBut('/?#@:=&"\'`<>()[]{}\\,;|');
const passwordCharacters = everythingBut('/?#@"\'`<>()[]{}\\,;|');
/** `$PASSWORD`, `%(password)s`, `***`: a place for a password. */
const PLACEHOLDER = /^(?:\$[A-Za-z_]\w*|%\w+%|\*+|\.+)$/;
const LONGEST = 512;

/** The password in `scheme://user:password@host`. User and host stay. */
export const urlPasswordRule: SecretRule = { starts: [SEPARATOR], find: findPassword };

function findPassword(scan: Scan, at: number): Span | undefined {
  const { text } = scan;
  const colon = scan.endOfRun(userCharacters, at + SEPARATOR.length);
  if (text.charCodeAt(colon) !== COLON) return undefined;
  const start = colon + 1;
  const end = scan.endOfRun(passwordCharacters, start);
  if (end === start || end - start > LONGEST || text.charCodeAt(end) !== AT_SIGN) return undefined;
  return PLACEHOLDER.test(text.slice(start, end)) ? undefined : { kind: 'url-password', start, end };
}
