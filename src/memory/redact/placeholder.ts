const SAMPLE_LENGTH = 64;

/** Words that people write where a secret belongs, in small letters. */
const FILLERS = [
  ...[
    'your-',
    'your_',
    'yourapi',
    'yourkey',
    'yourtoken',
    'yoursecret',
    'yourpass',
    'example',
    'placeholder',
  ],
  ...['changeme', 'change-me', 'change_me', 'replace', 'insert', 'redacted', 'dummy', 'xxxxx', '****', '...'],
  ...['0000000', '1234567890abcdef', '…'],
];

/** Whether a value only holds the place of a secret: `sk-your-key-here`, `ghp_xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`. */
export function isFiller(text: string, start: number, end: number): boolean {
  const sample = text.slice(start, Math.min(end, start + SAMPLE_LENGTH)).toLowerCase();
  return FILLERS.some((filler) => sample.includes(filler));
}

/** What stands for a password where any word could be one: `pass`, `my_password`, `***`, `$PASSWORD`. */
const PLACE =
  /^(?:\$[A-Za-z_{(].*|%\w+%|\*+|\.+|x+|(?:my|some|the|db|user)?_?(?:pw|pwd|pass|passwd|password|secret|token))$/i;

/** Whether a value holds the place of a password, where every other value is one. */
export function isPlaceholder(text: string, start: number, end: number): boolean {
  return isFiller(text, start, end) || PLACE.test(text.slice(start, end));
}

/** A variable, a template, an address, a path, a date: what leads to a secret, or says something of it, is none. */
const REFERENCE =
  /^\\{0,3}(?:\$[A-Za-z_{(]|%\w+%|%[({]|\{\{|#\{|@\{|<|[a-z]+:\/\/|urn:|\.{1,2}\/|~\/|\/\/|:|\/[^.]*\.|\d{4}-\d\d-\d\d)/;
/** Names of types and of algorithms: `Uint8Array`, `sha256`. */
const TECHNICAL =
  /^(?:u?int|u|i|f|float|utf-?|base|sha-?|md|hmac|aes|rsa|argon|varchar|char|string|oauth|v)-?\d+(?:array|string|url|id)?$/i;
/** `url('./icon.png')` */
const CALL = /^\w{1,40}\(.*\)$/;
const SEPARATORS = /[|:,./_-]/;
const WORD = /^(?:[a-z]+|[A-Z][a-z]+|\d{1,4})$/;
const LONGEST_TECHNICAL = 24;

/** Whether a value leads to a secret or tells its sort: a variable, a template, a path, a type, a rule of validation. */
export function isReference(value: string): boolean {
  return REFERENCE.test(value) || CALL.test(value) || isTechnical(value) || isWords(value);
}

function isTechnical(value: string): boolean {
  return value.length <= LONGEST_TECHNICAL && TECHNICAL.test(value);
}

/** `required|min:8`, `first-pass-2`: words and small numbers that are joined. */
function isWords(value: string): boolean {
  const pieces = value.split(SEPARATORS);
  return pieces.length > 1 && pieces.every((piece) => WORD.test(piece));
}
