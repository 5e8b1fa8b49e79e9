import { classes, classOf, UNKNOWN } from './characters.ts';

/** So many units are looked at together. Lines are far shorter; a title may not be, and is looked at no further. */
export const MOST_UNITS = 8192;
/** UTF-16 units of the text that was read last. Reading them once is faster than asking a string again and again. */
export const units: Uint16Array<ArrayBuffer> = new Uint16Array(MOST_UNITS + 4);
/** The same, to be looked at two at a time. */
export const unitPairs: DataView<ArrayBuffer> = new DataView(units.buffer);
/** The unit that ends a line. */
export const LINE_END = 10;

const encoder = new TextEncoder();
const bytes = new Uint8Array(MOST_UNITS);
/** Fewer units are copied one by one. */
const MANY_UNITS = 128;

/**
 * Reads a text into `units`, as far as there is room, and gives how many of its units were read. Behind them is the end of a
 * line. The classes of all of them are known from then on.
 */
export function readUnits(text: string): number {
  const length = Math.min(text.length, MOST_UNITS);
  const { read, written } = encoder.encodeInto(text, bytes);
  // As many bytes as units: all of them are ASCII.
  if (read === length && written === length) copyBytes(length);
  else copyUnits(text, length);
  units[length] = LINE_END;
  return length;
}

function copyBytes(length: number): void {
  if (length > MANY_UNITS) units.set(bytes.subarray(0, length));
  else for (let index = 0; index < length; index++) units[index] = bytes[index] ?? 0;
}

function copyUnits(text: string, length: number): void {
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    units[index] = unit;
    if (classes[unit] === UNKNOWN) classOf(unit);
  }
}
