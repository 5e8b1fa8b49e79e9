import { type ByteWindow, findLineFeed } from './byte-window.ts';
import { code, endsToken, isDigit } from './json-bytes.ts';

const none = -1;

/** Digits from which on an integer may be beyond ±2^53. */
const wideDigits = 16;

/** How far a string is searched byte by byte before the native search is called. */
const nearBytes = 32;

const plainKind = 0;
const quoteKind = 1;
const digitKind = 2;
const openKind = 3;
const closeKind = 4;

const kinds = new Uint8Array(256);
kinds[code.quote] = quoteKind;
kinds.fill(digitKind, code.zero, code.nine + 1);
kinds[code.openArray] = openKind;
kinds[code.openObject] = openKind;
kinds[code.closeArray] = closeKind;
kinds[code.closeObject] = closeKind;

/**
 * How far the search for the end of one value has come. It looks at brackets and quotes only: whether the value is valid is
 * for the parser to say.
 */
export interface ValueScan {
  /** The next byte to look at; behind the value once it is complete. */
  position: number;
  depth: number;
  /** The deepest nesting met so far; 0 for a value that is no array or object. */
  deepest: number;
  /** Where the content of the string begins in which `position` stands; -1 outside of strings. */
  stringStart: number;
  /** Whether the value is a number or a literal, which ends where something else begins. */
  readonly isToken: boolean;
  /** Whether there may be a number that a double cannot keep. */
  hasWideNumber: boolean;
  /** The next line feed, or how far the window has been searched for it in vain. */
  lineEnd: number;
}

/**
 * - `end`: the value is complete
 * - `line-break`: `position` is at a line feed; inside a string when `stringStart` says so
 * - `starved`: the window holds no more bytes
 */
type ScanStop = 'end' | 'line-break' | 'starved';

/** Begins at a byte that can start a value. */
export function beginScan(start: number, firstByte: number): ValueScan {
  const isToken = firstByte !== code.quote && firstByte !== code.openArray && firstByte !== code.openObject;
  return {
    position: start,
    depth: 0,
    deepest: 0,
    stringStart: none,
    isToken,
    hasWideNumber: isToken,
    lineEnd: start,
  };
}

/** Goes on to the end of the value, of the line or of the window, whichever comes first. Never looks at a byte twice. */
export function advanceScan(scan: ValueScan, window: ByteWindow): ScanStop {
  const limit = findLimit(scan, window);
  const isEnd = scan.isToken ? advanceToken(scan, window, limit) : advanceBrackets(scan, window, limit);
  if (isEnd) return 'end';
  return limit < window.end ? 'line-break' : 'starved';
}

function findLimit(scan: ValueScan, window: ByteWindow): number {
  if (scan.position < scan.lineEnd && scan.lineEnd < window.end) return scan.lineEnd;
  const feed = findLineFeed(window, Math.max(scan.position, scan.lineEnd));
  scan.lineEnd = feed === none ? window.end : feed;
  return scan.lineEnd;
}

function advanceToken(scan: ValueScan, { bytes, base, end }: ByteWindow, limit: number): boolean {
  let index = scan.position - base;
  while (index < limit - base && !endsToken(bytes[index] ?? 0)) index += 1;
  scan.position = base + index;
  return scan.position < end;
}

function advanceBrackets(scan: ValueScan, window: ByteWindow, limit: number): boolean {
  const { bytes, base } = window;
  const limitIndex = limit - base;
  let index = scan.position - base;
  if (scan.stringStart !== none) {
    index = leaveString(scan, window, { index, limitIndex });
    if (isOver(scan)) return finish(scan, base + index);
  }
  while (index < limitIndex) {
    const kind = kinds[bytes[index] ?? 0];
    index += 1;
    if (kind === plainKind) continue;
    if (kind === quoteKind) {
      scan.stringStart = base + index;
      index = leaveString(scan, window, { index, limitIndex });
    } else if (kind === digitKind) {
      index = skipDigits(scan, bytes, { index, limitIndex });
    } else if (kind === openKind) {
      scan.depth += 1;
      if (scan.depth > scan.deepest) scan.deepest = scan.depth;
    } else {
      scan.depth -= 1;
    }
    if (isOver(scan)) return finish(scan, base + index);
  }
  scan.position = base + index;
  return false;
}

function isOver(scan: ValueScan): boolean {
  return scan.depth === 0 && scan.stringStart === none;
}

function finish(scan: ValueScan, position: number): true {
  scan.position = position;
  return true;
}

/** A stretch of the window by index: where to go on, and where to stop. */
interface Stretch {
  readonly index: number;
  readonly limitIndex: number;
}

/** Goes behind the closing quote and says so in `stringStart`, or to the limit when there is none before it. */
function leaveString(scan: ValueScan, { bytes, base }: ByteWindow, { index, limitIndex }: Stretch): number {
  const first = scan.stringStart - base;
  let quote = findQuote(bytes, index, limitIndex);
  while (quote < limitIndex && bytes[quote - 1] === code.backslash && isEscaped(bytes, quote, first)) {
    quote = findQuote(bytes, quote + 1, limitIndex);
  }
  if (quote === limitIndex) return limitIndex;
  scan.stringStart = none;
  return quote + 1;
}

/** The next quote, or the limit. Most strings are short, and calling the native search costs more than a few bytes do. */
function findQuote(bytes: Buffer, from: number, limitIndex: number): number {
  const near = Math.min(from + nearBytes, limitIndex);
  for (let index = from; index < near; index += 1) {
    if (bytes[index] === code.quote) return index;
  }
  if (near === limitIndex) return limitIndex;
  const quote = bytes.indexOf(code.quote, near);
  return quote === -1 || quote > limitIndex ? limitIndex : quote;
}

/** An odd number of backslashes before a quote escapes it. Each run of backslashes stands before one quote: it is linear. */
function isEscaped(bytes: Uint8Array, quote: number, first: number): boolean {
  let index = quote - 1;
  while (index >= first && bytes[index] === code.backslash) index -= 1;
  return (quote - index) % 2 === 0;
}

/** Goes behind the digits whose first one stands before the stretch, and notes when the number may be a wide one. */
function skipDigits(scan: ValueScan, bytes: Uint8Array, { index: second, limitIndex }: Stretch): number {
  let index = second;
  while (index < limitIndex && isDigit(bytes[index] ?? 0)) index += 1;
  const isWide = index - second + 1 >= wideDigits && bytes[second - 2] !== code.dot;
  // `e` or `E`; a negative exponent cannot overflow.
  const isRaised = ((bytes[index] ?? 0) | 0x20) === 0x65 && bytes[index + 1] !== code.minus;
  const mayGoOn = index >= bytes.length - 1;
  if (isWide || isRaised || mayGoOn) scan.hasWideNumber = true;
  return index;
}
