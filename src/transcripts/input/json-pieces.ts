import type { Buffer } from 'node:buffer';
import { describeBytes, describedBytes, isBlank } from './json-bytes.ts';
import { cutReason, findJsonFault } from './json-fault.ts';
import { type Cursor, type Found, type Mark, markFrom, markHere, viewBytes } from './json-search.ts';
import { parseJson } from './lossless-json.ts';

/** What a piece of the input turned out to be: a value with where it began, or a fault with where JSON ends. */
export type Piece = ValuePiece | FaultPiece;

interface ValuePiece {
  readonly value: unknown;
  readonly at: Mark;
  readonly kind: 'document' | 'element';
  readonly document: number;
}

export interface FaultPiece {
  readonly reason: string;
  readonly at: Mark;
  /** Whether it is an element of an array that is no JSON, while the array goes on. */
  readonly isElement: boolean;
}

/** What is larger or deeper than this is a fault. */
export interface Limits {
  readonly maximumDepth: number;
  readonly maximumValueBytes: number;
}

interface ValueContext {
  readonly limits: Limits;
  readonly kind: 'document' | 'element';
  readonly document: number;
}

/** Reads a value that was found whole. */
export function readValue(cursor: Cursor, found: Found, { limits, kind, document }: ValueContext): Piece {
  const { start, end, depth } = found;
  const isElement = kind === 'element';
  const excess = findExcess(end.offset - start.offset, depth, limits);
  if (excess !== undefined) return { reason: excess, at: start, isElement };
  try {
    const value = parseJson(viewBytes(cursor, start.offset, end.offset).toString('utf8'));
    return { value, at: start, kind, document };
  } catch {
    return { ...explainFault(cursor, found), isElement };
  }
}

function findExcess(
  sizeBytes: number,
  depth: number,
  { maximumDepth, maximumValueBytes }: Limits,
): string | undefined {
  if (sizeBytes > maximumValueBytes) {
    return `a value of ${sizeBytes} bytes, larger than the limit of ${maximumValueBytes}`;
  }
  if (depth <= maximumDepth) return undefined;
  return `a value nested ${depth} levels deep, deeper than the limit of ${maximumDepth}`;
}

/** Why what was found is no JSON: its first fault, or that it is not all there. */
export function explainFault(cursor: Cursor, { start, end, state, isInString }: Found): FaultPiece {
  const bytes = trimEnd(viewBytes(cursor, start.offset, end.offset));
  const fault = findJsonFault(bytes);
  if (fault !== undefined) {
    const at = markFrom(cursor, start, start.offset + fault.index);
    return { reason: fault.reason, at, isElement: false };
  }
  if (state === 'broken' && isInString && end.line !== start.line) {
    return { reason: 'a line break inside a string', at: end, isElement: false };
  }
  return { reason: cutReason, at: markFrom(cursor, start, start.offset + bytes.length), isElement: false };
}

function trimEnd(bytes: Buffer): Buffer {
  let { length } = bytes;
  while (length > 0 && isBlank(bytes[length - 1] ?? 0)) length -= 1;
  return bytes.subarray(0, length);
}

/** Says what stands at the cursor instead of what was expected. */
export function unexpected(cursor: Cursor, expected: string): FaultPiece {
  const found = describeBytes(viewBytes(cursor, cursor.offset, cursor.offset + describedBytes));
  return { reason: `expected ${expected}, found ${found}`, at: markHere(cursor), isElement: false };
}
