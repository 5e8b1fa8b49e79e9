import { isObject, type JsonObject } from '../conversation/json.ts';

/** Where a value stands in the bytes of a JSON text: its first byte, and the one after its last. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member {
  readonly key: string;
  readonly value: Span;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANK = 0x20;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The bytes of a body after some of its fields were given other values. Everything that was not changed keeps its bytes:
 * other fields, their order, blanks, the spelling of numbers and strings, and in a list every element that is still the
 * very same value. So what is sent stays the same from turn to turn as far as the client's own bytes do.
 * @param bytes JSON text of `before`
 * @param before what `JSON.parse` or the like made of it
 * @param after the same fields; those with another value have another identity
 */
export function rewriteBody(bytes: Uint8Array, before: JsonObject, after: JsonObject): Uint8Array {
  const pieces = piecesOf(bytes, before, after);
  return pieces === undefined ? encoder.encode(JSON.stringify(after)) : join(pieces);
}

/** The text of a field of a body; undefined when it has none of that name, or is no JSON. */
export function topLevelString(bytes: Uint8Array, key: string): string | undefined {
  try {
    const span = membersOf(bytes).findLast((member) => member.key === key)?.value;
    const value: unknown =
      span === undefined ? undefined : JSON.parse(decoder.decode(bytes.subarray(span.start, span.end)));
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Fields that hold the messages of a request. */
const LISTS: ReadonlySet<string> = new Set(['messages', 'input', 'contents']);
/** Messages by which conversations are told apart well enough, and bytes of each that are looked at. */
const FIRST_MESSAGES = 4;
const FIRST_BYTES = 2048;

/** Bytes that stay the same while a conversation grows, and are others for most other conversations. */
export function beginningOf(bytes: Uint8Array): Uint8Array {
  try {
    const list = membersOf(bytes, LISTS).find(({ key }) => LISTS.has(key))?.value;
    if (list === undefined || bytes[list.start] !== OPEN_LIST) return bytes.subarray(0, FIRST_BYTES);
    const first = elementsOf(bytes, list, FIRST_MESSAGES);
    return join(first.map(({ start, end }) => bytes.subarray(start, Math.min(end, start + FIRST_BYTES))));
  } catch {
    return bytes.subarray(0, FIRST_BYTES);
  }
}

/** Undefined when fields came or went, which cannot be written in the place of others. */
function piecesOf(
  bytes: Uint8Array,
  before: JsonObject,
  after: JsonObject,
): readonly Uint8Array[] | undefined {
  const keys = Object.keys(after);
  if (keys.length !== Object.keys(before).length || !keys.every((key) => Object.hasOwn(before, key)))
    return undefined;
  // Of a key that stands twice, the last one counts.
  const members = new Map(membersOf(bytes).map(({ key, value }) => [key, value]));
  const changed = keys
    .filter((key) => after[key] !== before[key])
    .flatMap((key) => {
      const span = members.get(key);
      return span === undefined ? [] : [{ span, before: before[key], after: after[key] }];
    })
    .toSorted((left, right) => left.span.start - right.span.start);
  const pieces: Uint8Array[] = [];
  let place = 0;
  for (const change of changed) {
    pieces.push(bytes.subarray(place, change.span.start), ...valuePieces(bytes, change));
    place = change.span.end;
  }
  pieces.push(bytes.subarray(place));
  return pieces;
}

interface Change {
  readonly span: Span;
  readonly before: unknown;
  readonly after: unknown;
}

function valuePieces(bytes: Uint8Array, { span, before, after }: Change): readonly Uint8Array[] {
  const elements = Array.isArray(before) && Array.isArray(after) ? elementsOf(bytes, span) : [];
  if (!Array.isArray(before) || !Array.isArray(after) || elements.length !== before.length)
    return [encoder.encode(JSON.stringify(after))];
  const places = new Map<unknown, number>();
  for (const [index, element] of before.entries()) if (isObject(element)) places.set(element, index);
  const pieces: Uint8Array[] = [encoder.encode('[')];
  for (let index = 0; index < after.length; ) {
    if (index > 0) pieces.push(encoder.encode(','));
    const first = places.get(after[index]);
    if (first === undefined) {
      pieces.push(encoder.encode(JSON.stringify(after[index])));
      index++;
      continue;
    }
    // Neighbours that are still neighbours stand as they stood, with what is between them.
    let count = 1;
    while (index + count < after.length && places.get(after[index + count]) === first + count) count++;
    pieces.push(bytes.subarray(elements[first]?.start, elements[first + count - 1]?.end));
    index += count;
  }
  pieces.push(encoder.encode(']'));
  return pieces;
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  let place = 0;
  for (const piece of pieces) {
    whole.set(piece, place);
    place += piece.length;
  }
  return whole;
}

/**
 * The members of an object, up to the beginning of the first that is wanted. The text is known to be JSON, so nothing of
 * it is judged here.
 */
function membersOf(bytes: Uint8Array, wanted?: ReadonlySet<string>): readonly Member[] {
  const members: Member[] = [];
  let place = skipBlanks(bytes, 0) + 1;
  for (;;) {
    place = skipBlanks(bytes, place);
    if (bytes[place] !== QUOTE) return members;
    const keyEnd = skipString(bytes, place);
    const key = String(JSON.parse(decoder.decode(bytes.subarray(place, keyEnd))));
    // Behind the colon.
    const start = skipBlanks(bytes, skipBlanks(bytes, keyEnd) + 1);
    if (wanted?.has(key) === true) return [...members, { key, value: { start, end: bytes.length } }];
    const end = skipValue(bytes, start);
    members.push({ key, value: { start, end } });
    place = skipBlanks(bytes, end);
    if (bytes[place] !== COMMA) return members;
    place++;
  }
}

/** The elements of the list that stands there. */
function elementsOf(bytes: Uint8Array, list: Span, most = Number.POSITIVE_INFINITY): readonly Span[] {
  const elements: Span[] = [];
  let place = skipBlanks(bytes, list.start + 1);
  if (bytes[place] === CLOSE_LIST) return elements;
  for (;;) {
    const start = skipBlanks(bytes, place);
    const end = skipValue(bytes, start);
    elements.push({ start, end });
    if (elements.length === most) return elements;
    place = skipBlanks(bytes, end);
    if (bytes[place] !== COMMA) return elements;
    place++;
  }
}

function skipBlanks(bytes: Uint8Array, from: number): number {
  let place = from;
  while (place < bytes.length && (bytes[place] ?? 0) <= BLANK) place++;
  return place;
}

function skipValue(bytes: Uint8Array, start: number): number {
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
