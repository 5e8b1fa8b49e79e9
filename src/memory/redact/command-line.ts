import { kindUnder } from './assignment.ts';
import { everythingBut, type Scan, type SecretRule, type Span, wordAndHyphen } from './scan.ts';
import { isChosenSecret, isPlaceholder, isSecretOf, readValue, type Value } from './secret-value.ts';

const LONGEST_FLAG = 64;

/** `--password x`, `--api-key 'x'`: a flag that says that the next argument is secret. */
export const flagRule: SecretRule = {
  starts: ['--'],
  find(scan, at) {
    const from = at + 2;
    if (!scan.isWordStart(at)) return undefined;
    const end = scan.endOfRun(wordAndHyphen, from);
    if (end - from > LONGEST_FLAG || scan.text.charAt(end) !== ' ') return undefined;
    const kind = kindUnder(scan.text.slice(from, end));
    const value = kind === undefined ? undefined : readValue(scan, end + 1);
    if (kind === undefined || value === undefined || scan.text.charAt(value.start) === '-') return undefined;
    return isSecretOf(kind, scan.text, value) ? { kind, start: value.start, end: value.end } : undefined;
  },
};

/** A program that takes a password behind a flag that means something else to other programs. */
interface Program {
  readonly names: readonly string[];
  /** With the space in front of it, and the one behind it where the password is an argument by itself. */
  readonly flags: readonly string[];
  /** The argument is `user:password`. */
  readonly hasUser?: true;
}

/** The manuals of the programs. */
export const programs: readonly Program[] = [
  {
    names: ['curl ', 'http ', 'https '],
    flags: [' -u ', ' --user ', ' -a ', ' --proxy-user ', ' -U '],
    hasUser: true,
  },
  {
    names: ['mysql ', 'mysqldump ', 'mysqladmin ', 'mariadb ', '7z ', '7za ', 'rar ', 'unrar '],
    flags: [' -p'],
  },
  { names: ['sshpass '], flags: [' -p', ' -p '] },
  { names: ['unzip ', 'zip '], flags: [' -P '] },
  { names: ['docker login ', 'podman login ', 'helm registry login ', 'oc login '], flags: [' -p '] },
  { names: ['redis-cli '], flags: [' -a '] },
  { names: ['ldapsearch ', 'ldapadd ', 'ldapmodify '], flags: [' -w '] },
];

const programsByName = new Map(programs.flatMap((program) => program.names.map((name) => [name, program])));

/** Notes whose arguments follow. */
export const programRule: SecretRule = {
  starts: [...programsByName.keys()],
  find(scan, at, start) {
    if (scan.isWordStart(at)) scan.program = start;
    return undefined;
  },
};

/** The arguments of a program end with its line, unless that goes on, and with its part of a pipe. */
export const programEndRule: SecretRule = {
  starts: ['\n', '&&', '| ', '; '],
  find(scan, at) {
    if (scan.text.charAt(at - 1) !== '\\') scan.program = undefined;
    return undefined;
  },
};

/** `curl -u user:password`, `mysql -ppassword`, `sshpass -p password`. */
export const programFlagRule: SecretRule = {
  starts: [...new Set(programs.flatMap(({ flags }) => flags))],
  find(scan, at, flag) {
    const program = scan.program === undefined ? undefined : programsByName.get(scan.program);
    if (program === undefined || !program.flags.includes(flag)) return undefined;
    const from = at + flag.length;
    return program.hasUser === true ? findPassword(scan, from) : findArgument(scan, from);
  },
};

function findArgument(scan: Scan, from: number): Span | undefined {
  const value = readValue(scan, from);
  const isSecret = value !== undefined && (value.isQuoted ? isGiven : isChosenSecret)(scan.text, value);
  return isSecret ? { kind: 'password', start: value.start, end: value.end } : undefined;
}

/** Quoted it is a password, whatever it looks like. */
function isGiven(text: string, { start, end }: Value): boolean {
  return end > start && !isPlaceholder(text, start, end);
}

const LONGEST = 256;
const userCharacters = everythingBut('"\'`<>()[]{}\\,;|:@$');
const passwordCharacters = everythingBut('"\'`\\');

const OPENING = /^\\{0,3}["']/;
const CLOSING = /["'\\\n]/;

/** The password in `user:password`. Only a quoted one holds spaces. */
function findPassword(scan: Scan, from: number): Span | undefined {
  const { text } = scan;
  const opening = OPENING.exec(text.slice(from, from + 4))?.[0].length ?? 0;
  const colon = scan.endOfRun(userCharacters, from + opening);
  if (text.charAt(colon) !== ':') return undefined;
  const start = colon + 1;
  const length =
    opening === 0
      ? scan.endOfRun(passwordCharacters, start) - start
      : text.slice(start, start + LONGEST).search(CLOSING);
  const end = start + length;
  if (length <= 0 || length > LONGEST || isPlaceholder(text, start, end)) return undefined;
  return { kind: 'password', start, end };
}
