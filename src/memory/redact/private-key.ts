import { base64, type Scan, type SecretRule, type Span } from './scan.ts';

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const LONGEST_LABEL = 40;
const LABEL = /^[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?$/;
/** Lines of a key are 64 to 76 characters long; prose has no such word. */
const LEAST_LINE = 40;
const HEADERS = ['Proc-Type:', 'DEK-Info:', 'Version:', 'Comment:'];
const LONGEST_HEADER = 200;
const MOST_HEADERS = 4;

/** Private keys in PEM, with line breaks or with `\n` for them, whole or cut off. Public keys and certificates stay. */
export const privateKeyRule: SecretRule = { starts: [BEGIN], find: findPrivateKey };

function findPrivateKey(scan: Scan, at: number): Span | undefined {
  const { text } = scan;
  const from = at + BEGIN.length;
  const label = text.slice(from, from + LONGEST_LABEL + DASHES.length);
  const labelEnd = label.indexOf(DASHES);
  if (labelEnd === -1 || !LABEL.test(label.slice(0, labelEnd))) return undefined;
  const body = readBody(scan, from + labelEnd + DASHES.length);
  const span = { kind: 'private-key', start: at };
  if (body.hasLine && text.startsWith(END, body.end)) {
    const closing = text.slice(body.end + END.length, body.end + END.length + LONGEST_LABEL);
    const dashes = closing.indexOf(DASHES);
    const end = body.end + END.length + (dashes === -1 ? 0 : dashes + DASHES.length);
    return { ...span, end };
  }
  return body.keyEnd === undefined ? undefined : { ...span, end: body.keyEnd };
}

interface Body {
  /** Where neither a line of a key nor a header begins. */
  readonly end: number;
  readonly hasLine: boolean;
  /** Behind the last line that is surely a key's; undefined where there is none. */
  readonly keyEnd: number | undefined;
}

function readBody(scan: Scan, from: number): Body {
  let end = skipHeaders(scan.text, skipBreaks(scan.text, from));
  let hasLine = false;
  let followsKeyLine = false;
  let keyEnd: number | undefined;
  for (;;) {
    const start = skipBreaks(scan.text, end);
    const lineEnd = scan.endOfRun(base64, start);
    if (lineEnd === start) return { end: start, hasLine, keyEnd };
    hasLine = true;
    const isKeyLine = lineEnd - start >= LEAST_LINE;
    // A key may end, or be cut off, in the middle of a line; more words on that line are no key's.
    if (isKeyLine || (followsKeyLine && !isSpace(scan.text.charCodeAt(lineEnd)))) keyEnd = lineEnd;
    followsKeyLine = isKeyLine;
    end = lineEnd;
  }
}

/** Behind white space, and behind the escapes that stand for it in strings. */
function skipBreaks(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (isSpace(code) || (code >= 10 && code <= 13)) at++;
    else if (text.startsWith('\\n', at) || text.startsWith('\\r', at)) at += 2;
    else return at;
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

function skipHeaders(text: string, from: number): number {
  let at = from;
  for (let count = 0; count < MOST_HEADERS; count++) {
    if (!HEADERS.some((header) => text.startsWith(header, at))) return at;
    const line = text.slice(at, at + LONGEST_HEADER);
    const length = line.search(/\n|\\n/);
    if (length === -1) return at;
    at = skipBreaks(text, at + length);
  }
  return at;
}
