import { type Place, RoundfoldError } from '../../conversation/errors.ts';
import { decodeBeginning, describeBytes, quoteBytes } from './json-bytes.ts';
import { cutReason } from './json-fault.ts';

/** What is known about an input in which no value was found. */
interface UnreadableInput {
  readonly source: string;
  /** Its first bytes, unpacked. */
  readonly head: Uint8Array;
  /** The first fault met; undefined when there was nothing but blanks. */
  readonly fault: { readonly place: Place; readonly reason: string } | undefined;
  /** What was wrong with the compression. */
  readonly damage: string | undefined;
}

interface Diagnosis {
  readonly problem: string;
  readonly remedy: string;
}

interface Signature {
  readonly bytes: string;
  readonly name: string;
  readonly remedy: string;
}

const wanted = 'Name a file with JSON or JSON Lines.';

/** Files that people pass by mistake, by their first bytes in latin-1. */
const signatures: readonly Signature[] = [
  { bytes: 'PK\x03\x04', name: 'a zip archive', remedy: 'Unpack it and name the JSON file in it.' },
  { bytes: 'SQLite format 3\0', name: 'an SQLite database', remedy: 'Export the conversation as JSON.' },
  {
    bytes: 'BZh',
    name: 'compressed with bzip2',
    remedy: 'Unpack it with bunzip2; gzip and zstd are read as they are.',
  },
  {
    bytes: '\xfd7zXZ',
    name: 'compressed with xz',
    remedy: 'Unpack it with unxz; gzip and zstd are read as they are.',
  },
  { bytes: '%PDF', name: 'a PDF', remedy: wanted },
  { bytes: '<', name: 'HTML or XML, not JSON', remedy: 'Export the conversation as JSON.' },
  { bytes: '---', name: 'YAML or Markdown, not JSON', remedy: 'Convert it to JSON.' },
  { bytes: '# ', name: 'Markdown, not JSON', remedy: 'Export the conversation as JSON.' },
];

const utf16Marks = ['\xff\xfe', '\xfe\xff'];
const utf16Letters = /^(?:\0[^\0]\0[^\0]|[^\0]\0[^\0]\0)/;

/**
 * Throws `RoundfoldError` (`input-not-understood`) when the bytes are UTF-16, by their mark or by the NUL that each Latin
 * letter and bracket has there. Does nothing for all others.
 */
export function refuseUtf16(source: string, head: Uint8Array): void {
  const start = latin1(head.subarray(0, 4));
  if (!utf16Marks.some((mark) => start.startsWith(mark)) && !utf16Letters.test(start)) return;
  const bytes = [...head.subarray(0, 2)].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`);
  throw refusal(beginningOf(source), source, {
    problem: `is UTF-16, not UTF-8: it begins with ${bytes.join(' ')}`,
    remedy: 'Convert it, for example with `iconv -f UTF-16 -t UTF-8`.',
  });
}

/** The error for an input that holds no value at all, in words that fit what it holds instead. */
export function unreadableInput(input: UnreadableInput): RoundfoldError {
  const place = input.fault?.place ?? beginningOf(input.source);
  return refusal(place, input.source, diagnose(input));
}

function refusal(place: Place, source: string, { problem, remedy }: Diagnosis): RoundfoldError {
  return new RoundfoldError('input-not-understood', `${source} ${problem}`, { place, remedy });
}

function diagnose({ head, fault, damage }: UnreadableInput): Diagnosis {
  if (damage !== undefined)
    return { problem: `cannot be unpacked: ${damage}`, remedy: 'Get a fresh copy of the file.' };
  if (head.length === 0) return { problem: 'is empty', remedy: wanted };
  const signature = signatures.find(({ bytes }) => latin1(head).startsWith(bytes));
  if (signature !== undefined) {
    return { problem: `is ${signature.name}: it begins with ${quoteBytes(head)}`, remedy: signature.remedy };
  }
  const binaryIndex = findBinary(head);
  if (binaryIndex !== -1) {
    const found = describeBytes(head.subarray(binaryIndex));
    return { problem: `is binary data, not JSON: ${found} at byte ${binaryIndex}`, remedy: wanted };
  }
  if (fault === undefined) return { problem: 'holds only whitespace', remedy: wanted };
  const where = `line ${fault.place.line}, column ${fault.place.column}`;
  if (fault.reason === cutReason) {
    return {
      problem: `ends in the middle of a value at ${where}`,
      remedy: 'Get the whole file: this one was cut.',
    };
  }
  return {
    problem: `holds no readable JSON value: ${fault.reason} at ${where}; it begins with ${quoteBytes(head)}`,
    remedy: wanted,
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const binaryControl = /[\0-\x08\x0e-\x1a\x7f]/;

/** The index of the first byte that is no UTF-8 text, or a control character that text does not use; -1 for plain text. */
function findBinary(bytes: Uint8Array): number {
  let index = 0;
  for (const character of decodeBeginning(bytes)) {
    // The last character may have been cut in two.
    if (character === '\ufffd') return index + 3 < bytes.length ? index : -1;
    if (binaryControl.test(character)) return index;
    index += Buffer.byteLength(character);
  }
  return -1;
}

function beginningOf(source: string): Place {
  return { source, line: 1, column: 1, byte: 0 };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
