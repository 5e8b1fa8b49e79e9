import { everythingBut } from './alphabet.ts';
import type { Scan, SecretRule, Span } from './scan.ts';
import { isChosenSecret, isRandomSecret, readValue } from './value.ts';

/** `the password is x`, and `login x password y` of a `.netrc`. Only what looks random: other words are prose. */
export const spokenRule: SecretRule = {
  starts: ['password ', 'Password ', 'passwd ', 'passphrase ', 'passwort ', 'Passwort '],
  find(scan, at, start) {
    if (!scan.isWordStart(at)) return undefined;
    const behind = at + start.length;
    const verb = ['is ', 'was ', 'ist ', 'to '].find((each) => scan.text.startsWith(each, behind)) ?? '';
    const value = readValue(scan, behind + verb.length);
    if (value === undefined || !isRandomSecret(scan.text, value)) return undefined;
    return { kind: 'password', start: value.start, end: value.end };
  },
};

const field = everythingBut(':"\'`<>()[]{}\\,;|/@');

/** The password in a line of a `.pgpass`: `host:port:database:user:password`. */
export const pgpassRule: SecretRule = {
  starts: [':5432:', ':5433:', ':6432:'],
  find(scan, at, start) {
    const database = scan.endOfRun(field, at + start.length);
    if (database === at + start.length || scan.text.charAt(database) !== ':') return undefined;
    const user = scan.endOfRun(field, database + 1);
    if (user === database + 1 || scan.text.charAt(user) !== ':') return undefined;
    const value = readValue(scan, user + 1);
    if (value === undefined || value.isQuoted || !isChosenSecret(scan.text, value)) return undefined;
    return { kind: 'password', start: value.start, end: value.end };
  },
};

/** How many words a mnemonic has (BIP 39), and how long they are. */
const COUNTS: ReadonlySet<number> = new Set([12, 15, 18, 21, 24]);
const MOST_WORDS = 24;
const LONGEST_WORD = 8;
const LEAST_WORD = 3;

/** The words from which a wallet can be restored, behind what announces them. */
export const mnemonicRule: SecretRule = {
  starts: [
    'seed phrase',
    'Seed phrase',
    'recovery phrase',
    'Recovery phrase',
    'mnemonic',
    'Mnemonic',
    'MNEMONIC',
  ],
  find(scan, at, start) {
    const from = skipAnnouncement(scan.text, at + start.length);
    return from === undefined ? undefined : findWords(scan, from);
  },
};

const MOST_ANNOUNCED = 6;

/** Behind a colon, an equals sign, an `is` and a quote. */
function skipAnnouncement(text: string, from: number): number | undefined {
  const length = /^"?(?:\s*[:=]|\s+is:?)\s*["']?/.exec(text.slice(from, from + MOST_ANNOUNCED))?.[0].length;
  return length === undefined ? undefined : from + length;
}

function findWords(scan: Scan, start: number): Span | undefined {
  let end = start;
  let count = 0;
  for (let at = start; count <= MOST_WORDS; count++) {
    const wordEnd = endOfWord(scan.text, at);
    if (wordEnd - at < LEAST_WORD || wordEnd - at > LONGEST_WORD) break;
    end = wordEnd;
    at = scan.text.charAt(end) === ' ' ? end + 1 : end;
  }
  const isWhole = !/[\w-]/.test(scan.text.charAt(end)) && !scan.isRedacted(end) && !scan.isRedacted(end + 1);
  return COUNTS.has(count) && isWhole ? { kind: 'mnemonic', start, end } : undefined;
}

function endOfWord(text: string, from: number): number {
  let end = from;
  while (end <= from + LONGEST_WORD && text.charAt(end) >= 'a' && text.charAt(end) <= 'z') end++;
  return end;
}
