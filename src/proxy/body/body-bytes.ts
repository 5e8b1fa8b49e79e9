import { isObject, type JsonObject } from '../../conversation/json.ts';
import { behindValue, enterList, enterObject, isListAt, keyAt, type Span, skipValue } from './json-layout.ts';
import type { Member, ParsedBody } from './parsed-body.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const OPEN_LIST = encoder.encode('[');
const COMMA = encoder.encode(',');
const CLOSE_LIST = encoder.encode(']');

/**
 * The bytes of a body after some of its fields were given other values. Everything that was not changed keeps its bytes:
 * other fields, their order, blanks, the spelling of numbers and strings, and in a list every element that is still the
 * very same value. So what is sent stays the same from turn to turn as far as the client's own bytes do.
 * @param after the same fields; those with another value have another identity
 */
export function rewriteBody(body: ParsedBody, after: JsonObject): Uint8Array {
  const pieces = piecesOf(body, after);
  return pieces === undefined ? encoder.encode(JSON.stringify(after)) : join(pieces);
}

/** Undefined when fields came or went, which cannot be written in the place of others. */
function piecesOf(
  { bytes, value: before, members }: ParsedBody,
  after: JsonObject,
): Uint8Array[] | undefined {
  const keys = Object.keys(after);
  if (keys.length !== Object.keys(before).length || !keys.every((key) => Object.hasOwn(before, key)))
    return undefined;
  // Of a key that stands twice, the last one counts.
  const last = new Map(members.map((member) => [member.key, member]));
  if (last.size !== keys.length) return undefined;
  const pieces: Uint8Array[] = [];
  let place = 0;
  for (const member of members) {
    if (last.get(member.key) !== member || after[member.key] === member.value) continue;
    pieces.push(bytes.subarray(place, member.span.start), ...memberPieces(bytes, member, after[member.key]));
    place = member.span.end;
  }
  pieces.push(bytes.subarray(place));
  return pieces;
}

function memberPieces(bytes: Uint8Array, { elements }: Member, after: unknown): readonly Uint8Array[] {
  if (elements === undefined || !Array.isArray(after)) return [encoder.encode(JSON.stringify(after))];
  const places = new Map<unknown, number>();
  for (const [index, { value }] of elements.entries()) if (isObject(value)) places.set(value, index);
  const pieces: Uint8Array[] = [OPEN_LIST];
  for (let index = 0; index < after.length; ) {
    if (index > 0) pieces.push(COMMA);
    const first = places.get(after[index]);
    if (first === undefined) {
      pieces.push(bytesOf(after[index]));
      index++;
      continue;
    }
    // Neighbours that are still neighbours stand as they stood, with what is between them.
    let count = 1;
    while (index + count < after.length && places.get(after[index + count]) === first + count) count++;
    pieces.push(bytes.subarray(elements[first]?.span.start, elements[first + count - 1]?.span.end));
    index += count;
  }
  pieces.push(CLOSE_LIST);
  return pieces;
}

const written = new WeakMap<object, Uint8Array>();

/** The JSON text of a message that was made. A memory is large, and the same one is sent turn after turn. */
function bytesOf(made: unknown): Uint8Array {
  const known = isObject(made) ? written.get(made) : undefined;
  if (known !== undefined) return known;
  const bytes = encoder.encode(JSON.stringify(made));
  if (isObject(made)) written.set(made, bytes);
  return bytes;
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

/** The text of a field of a body; undefined when it has none of that name, or is no JSON. */
export function topLevelString(bytes: Uint8Array, key: string): string | undefined {
  const span = findMember(bytes, (name) => name === key);
  try {
    const value: unknown =
      span === undefined
        ? undefined
        : JSON.parse(decoder.decode(bytes.subarray(span.start, skipValue(bytes, span.start))));
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
  const list = findMember(bytes, (name) => LISTS.has(name));
  if (list === undefined || !isListAt(bytes, list.start)) return bytes.subarray(0, FIRST_BYTES);
  const first: Uint8Array[] = [];
  for (let at = enterList(bytes, list.start); 'next' in at && first.length < FIRST_MESSAGES; ) {
    const end = skipValue(bytes, at.next);
    first.push(bytes.subarray(at.next, Math.min(end, at.next + FIRST_BYTES)));
    at = behindValue(bytes, end, 'list') ?? { end };
  }
  return join(first);
}

/** The first field whose name is wanted; its end is not looked for. */
function findMember(bytes: Uint8Array, isWanted: (key: string) => boolean): Pick<Span, 'start'> | undefined {
  let place = enterObject(bytes);
  while (place !== undefined) {
    const found = keyAt(bytes, place);
    if (found === undefined) return undefined;
    // No name that is looked for is written with escapes.
    const name = decoder.decode(bytes.subarray(found.key.start + 1, found.key.end - 1));
    if (isWanted(name)) return { start: found.value };
    const behind = behindValue(bytes, skipValue(bytes, found.value), 'object');
    place = behind !== undefined && 'next' in behind ? behind.next : undefined;
  }
  return undefined;
}
