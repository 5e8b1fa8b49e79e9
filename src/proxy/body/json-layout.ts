/** Where the parts of a JSON text stand in its bytes. Nothing is decoded here. */

/** Where a value stands: its first byte, and the one after its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANK = 0x20;

/** Whether a list stands there. */
export function isListAt(bytes: Uint8Array, place: number): boolean {
  return bytes[place] === OPEN_LIST;
}

/** Whether an object stands there. */
export function isObjectAt(bytes: Uint8Array, place: number): boolean {
  return bytes[place] === OPEN_OBJECT;
}

/** The place of the first key of the object that the text is; undefined when it is none. */
export function enterObject(bytes: Uint8Array): number | undefined {
  const place = skipBlanks(bytes, 0);
  return bytes[place] === OPEN_OBJECT ? skipBlanks(bytes, place + 1) : undefined;
}

/** A key, and where its value begins; undefined when no key stands there. */
export function keyAt(
  bytes: Uint8Array,
  place: number,
): { readonly key: Span; readonly value: number } | undefined {
  if (bytes[place] !== QUOTE) return undefined;
  const end = skipString(bytes, place);
  const colon = skipBlanks(bytes, end);
  if (bytes[colon] !== COLON) return undefined;
  return { key: { start: place, end }, value: skipBlanks(bytes, colon + 1) };
}

/** What stands behind a value: the place of the next one, or the place behind the whole; undefined when it is neither. */
export function behindValue(
  bytes: Uint8Array,
  end: number,
  whole: 'list' | 'object',
): { readonly next: number } | { readonly end: number } | undefined {
  const place = skipBlanks(bytes, end);
  if (bytes[place] === COMMA) return { next: skipBlanks(bytes, place + 1) };
  return bytes[place] === (whole === 'list' ? CLOSE_LIST : CLOSE_OBJECT) ? { end: place + 1 } : undefined;
}

/** Where the first value of a list stands, or where the list ends when it has none. */
export function enterList(
  bytes: Uint8Array,
  start: number,
): { readonly next: number } | { readonly end: number } {
  const place = skipBlanks(bytes, start + 1);
  return bytes[place] === CLOSE_LIST ? { end: place + 1 } : { next: place };
}

/** Whether nothing but blanks follows. */
export function isEnd(bytes: Uint8Array, place: number): boolean {
  return skipBlanks(bytes, place) === bytes.length;
}

/** Behind the value that stands there, as far as its brackets and quotes tell. */
export function skipValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_LIST || first === OPEN_OBJECT) return skipNested(bytes, start);
  let place = start;
  while (place < bytes.length && !endsScalar(bytes[place] ?? 0)) place++;
  return place;
}

function endsScalar(byte: number): boolean {
  return byte <= BLANK || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
}

function skipBlanks(bytes: Uint8Array, from: number): number {
  let place = from;
  while (place < bytes.length && (bytes[place] ?? 0) <= BLANK) place++;
  return place;
}

function skipNested(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let place = start;
  while (place < bytes.length) {
    const byte = bytes[place];
    if (byte === QUOTE) {
      place = skipString(bytes, place);
      continue;
    }
    place++;
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && --depth === 0) return place;
  }
  return place;
}

/** Behind the closing quote. The platform finds quotes faster than a loop here could. */
function skipString(bytes: Uint8Array, start: number): number {
  for (let place = start + 1; ; ) {
    const quote = bytes.indexOf(QUOTE, place);
    if (quote === -1) return bytes.length;
    let before = quote;
    while (before > place && bytes[before - 1] === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
    place = quote + 1;
  }
}
