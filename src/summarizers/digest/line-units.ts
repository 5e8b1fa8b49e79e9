import { classOf, OTHER } from './characters.ts';

/** Of a longer text only so many units are looked at. Lines are far shorter; a title may not be. */
export const MOST_UNITS = 8192;
/** UTF-16 units of the line that was read last. Reading them once is faster than asking a string again and again. */
export const units: Uint16Array = new Uint16Array(MOST_UNITS + 1);
/** Their classes. */
export const kinds: Uint8Array = new Uint8Array(MOST_UNITS + 1);

const encoder = new TextEncoder();
const bytes = new Uint8Array(MOST_UNITS);

/**
 * Reads a line into `units` and `kinds`, and gives how many of its units were read. What stands behind them is of no class, so
 * that it ends every run.
 */
export function readUnits(line: string): number {
  const length = Math.min(line.length, MOST_UNITS);
  const { read, written } = encoder.encodeInto(line, bytes);
  // As many bytes as units: all of them are ASCII.
  if (read === length && written === length) copyBytes(length);
  else copyUnits(line, length);
  units[length] = 0;
  kinds[length] = OTHER;
  return length;
}

function copyBytes(length: number): void {
  for (let index = 0; index < length; index++) {
    const unit = bytes[index] ?? 0;
    units[index] = unit;
    kinds[index] = classOf(unit);
  }
}

function copyUnits(line: string, length: number): void {
  for (let index = 0; index < length; index++) {
    const unit = line.charCodeAt(index);
    units[index] = unit;
    kinds[index] = classOf(unit);
  }
}
