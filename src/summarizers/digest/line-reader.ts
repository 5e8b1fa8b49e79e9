import { contentEnd } from './line-text.ts';
import { MOST_UNITS, readUnits, units } from './line-units.ts';

const ARROW = 0x2192;
const TAB = 9;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const MOST_DIGITS = 8;
/** With the spaces before it and the mark behind it. */
const LONGEST_NUMBER = 2 * MOST_DIGITS + 1;

/**
 * Reads a text line by line into `units`, as many lines at a time as there is room for. What it says of the present line is
 * read from its fields.
 */
export class LineReader {
  /** Where the line stands in `units`, without white space at its end. */
  start = 0;
  end = 0;
  /** How many units it has, white space at its end included. */
  length = 0;
  /** Where `units` begin in the text. */
  offset = 0;
  /** Whether the line is too long for `units`: then its places are those in the text. */
  isApart = false;
  private text = '';
  private isNumbered = false;
  /** How many units were read, and where the next line begins among them. */
  private read = 0;
  private next = 0;

  /** Begins with a text. With `isNumbered`, the numbers that a reading tool puts before its lines are left out. */
  open(text: string, isNumbered: boolean): void {
    this.text = text;
    this.isNumbered = isNumbered;
    this.offset = 0;
    this.read = -1;
    this.next = 0;
  }

  /** Goes on to the next line; false when there is none. */
  advance(): boolean {
    if (this.next > this.read && !this.readMore()) return false;
    if (this.isApart) return true;
    let start = this.next;
    const found = this.text.indexOf('\n', this.offset + start);
    const end = found === -1 ? this.read : found - this.offset;
    this.next = end + 1;
    if (this.isNumbered) start = behindNumber(start);
    this.length = end - start;
    this.start = start;
    this.end = contentEnd(start, end);
    return true;
  }

  /** Reads on behind what was read last: whole lines, or one that is too long. */
  private readMore(): boolean {
    const { text } = this;
    const start = this.offset + this.next;
    if (start > text.length) return false;
    this.offset = start;
    this.next = 0;
    const isRest = text.length - start <= MOST_UNITS;
    const end = isRest ? text.length : text.lastIndexOf('\n', start + MOST_UNITS);
    this.isApart = end < start;
    if (this.isApart) this.takeApart();
    else this.read = readUnits(end - start === text.length ? text : text.slice(start, end));
    return true;
  }

  private takeApart(): void {
    const { text, offset } = this;
    const lineEnd = text.indexOf('\n', offset);
    const end = lineEnd === -1 ? text.length : lineEnd;
    this.next = end - offset + 1;
    this.read = end - offset;
    readUnits(text.slice(offset, offset + LONGEST_NUMBER));
    const start = offset + (this.isNumbered ? behindNumber(0) : 0);
    this.length = end - start;
    this.start = start;
    this.end = start + text.slice(start, end).trimEnd().length;
  }
}

/** Where a line of `units` begins behind the number that a reading tool put before it: `   12→text`, `   12\ttext`. */
function behindNumber(start: number): number {
  let index = start;
  while (index < start + MOST_DIGITS && units[index] === SPACE) index++;
  const digits = index;
  while (index < digits + MOST_DIGITS && isDigit(units[index] ?? 0)) index++;
  const mark = units[index];
  return index > digits && (mark === ARROW || mark === TAB) ? index + 1 : start;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}
