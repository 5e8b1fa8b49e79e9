import { isObject, type JsonObject } from '../../conversation/json.ts';
import { neverChanges } from '../../formats/view-memory.ts';
import { parseJson } from '../../transcripts/input/lossless-json.ts';
import {
  behindValue,
  enterList,
  enterObject,
  isEnd,
  isListAt,
  isObjectAt,
  keyAt,
  type Span,
  skipValue,
} from './json-layout.ts';
import { isSameBytes, samePrefix } from './same-bytes.ts';

/** A body as a value, and where its parts stand in its bytes. */
export interface ParsedBody {
  readonly bytes: Uint8Array;
  readonly value: JsonObject;
  readonly members: readonly Member[];
}

export interface Member {
  readonly key: string;
  readonly span: Span;
  readonly value: unknown;
  /** The elements, where it is the list of messages. */
  readonly elements: readonly Element[] | undefined;
}

export interface Element {
  readonly span: Span;
  readonly value: unknown;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a body piece by piece. Pieces that stand in `earlier` with the very same bytes are not read again and are the very
 * same values, so that everything that is remembered of them counts: a turn costs what is new in it.
 * @param listKey the field that holds the messages
 * @returns undefined when it is no JSON object
 */
export function parseBody(
  bytes: Uint8Array,
  listKey: string,
  earlier: ParsedBody | undefined,
): ParsedBody | undefined {
  try {
    const members = readMembers(bytes, listKey, earlier);
    if (members !== undefined) return { bytes, value: toValue(members), members };
    // What was not understood here is JSON all the same, or it is none.
    const value = parseJson(decoder.decode(bytes));
    return isObject(value) ? { bytes, value, members: [] } : undefined;
  } catch {
    return undefined;
  }
}

/** Of a key that stands twice the last value counts, in the place of the first, as with `JSON.parse`. */
function toValue(members: readonly Member[]): JsonObject {
  // Made from entries, so that no key has a meaning of its own.
  return Object.fromEntries(members.map(({ key, value }) => [key, value]));
}

function readMembers(
  bytes: Uint8Array,
  listKey: string,
  earlier: ParsedBody | undefined,
): readonly Member[] | undefined {
  const same = earlier === undefined ? 0 : samePrefix(earlier.bytes, bytes);
  const members: Member[] = [];
  let place = enterObject(bytes);
  while (place !== undefined) {
    const found = keyAt(bytes, place);
    if (found === undefined) return undefined;
    const before = earlier?.members[members.length];
    const member = readMember(bytes, found, { listKey, before, earlier: earlier?.bytes, same });
    if (member === undefined) return undefined;
    members.push(member);
    const behind = behindValue(bytes, member.span.end, 'object');
    if (behind === undefined) return undefined;
    if ('end' in behind) return isEnd(bytes, behind.end) ? members : undefined;
    place = behind.next;
  }
  return undefined;
}

/** What is known from before. */
interface Known {
  readonly listKey: string;
  /** The member that stood in this place. */
  readonly before: Member | undefined;
  readonly earlier: Uint8Array | undefined;
  /** Bytes at the beginning that are the same as before. */
  readonly same: number;
}

function readMember(
  bytes: Uint8Array,
  { key: keySpan, value: start }: { readonly key: Span; readonly value: number },
  known: Known,
): Member | undefined {
  const key = String(JSON.parse(decoder.decode(bytes.subarray(keySpan.start, keySpan.end))));
  const before = known.before?.key === key ? known.before : undefined;
  if (key === known.listKey && isListAt(bytes, start)) {
    const list = readList(bytes, start, { ...known, before });
    return list === undefined ? undefined : { key, ...list };
  }
  const isInPrefix = before !== undefined && before.span.start === start && before.span.end < known.same;
  const span = { start, end: isInPrefix ? before.span.end : skipValue(bytes, start) };
  return { key, span, value: readPiece(bytes, span, before, known.earlier), elements: undefined };
}

function readList(
  bytes: Uint8Array,
  start: number,
  { before, earlier, same }: Known,
): Omit<Member, 'key'> | undefined {
  const elements: Element[] = [];
  let at = enterList(bytes, start);
  // Everything in front of the first difference stands where it stood.
  if (before?.span.start === start)
    for (const element of before.elements ?? []) {
      if (element.span.end > same || !isObjectAt(bytes, element.span.start)) break;
      elements.push(element);
    }
  const reused = elements.at(-1);
  if (reused !== undefined) {
    const behind = behindValue(bytes, reused.span.end, 'list');
    if (behind === undefined) return undefined;
    at = behind;
  }
  while ('next' in at) {
    const span = { start: at.next, end: skipValue(bytes, at.next) };
    const value = readPiece(bytes, span, before?.elements?.[elements.length], earlier);
    // Nobody else holds it.
    if (isObject(value)) neverChanges(value);
    elements.push({ span, value });
    const behind = behindValue(bytes, span.end, 'list');
    if (behind === undefined) return undefined;
    at = behind;
  }
  return { span: { start, end: at.end }, value: elements.map(({ value }) => value), elements };
}

/** The value of a piece: the one it had before, where its bytes are the same. */
function readPiece(
  bytes: Uint8Array,
  span: Span,
  before: Element | undefined,
  earlier: Uint8Array | undefined,
): unknown {
  const piece = bytes.subarray(span.start, span.end);
  if (before !== undefined && earlier !== undefined && before.span.end - before.span.start === piece.length)
    if (isSameBytes(earlier.subarray(before.span.start, before.span.end), piece)) return before.value;
  return parseJson(decoder.decode(piece));
}
