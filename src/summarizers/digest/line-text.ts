import { isBlank } from './characters.ts';
import { units } from './line-units.ts';

const SPACE = 32;
const COMMA = 44;
/** A piece of a long line has at most so many units. */
export const PIECE = 120;

/** Where a stretch of `units` ends without the white space at its end. */
export function contentEnd(start: number, end: number): number {
  let last = end;
  while (last > start && isBlank(units[last - 1] ?? 0)) last--;
  return last;
}

/** How many white-space characters a stretch of `units` begins with. */
export function indentOf(start: number, end: number): number {
  let index = start;
  while (index < end && (units[index] === SPACE || isBlank(units[index] ?? 0))) index++;
  return index - start;
}

/** Where the next piece of a long line of `units` ends: behind a word, where there is one. */
export function pieceEnd(start: number, lineEnd: number): number {
  const end = Math.min(lineEnd, start + PIECE);
  if (end === lineEnd) return end;
  const least = start + PIECE / 2;
  for (let cut = end; cut > least; cut--) {
    if (units[cut] === SPACE || units[cut - 1] === COMMA) return cut;
  }
  return end;
}
