import { gunzipSync } from 'node:zlib';

/** Turns the bytes of a file into the text a conversation would carry, or nothing when there is none. */
export type Reader = (bytes: Uint8Array) => string | undefined;

/** Text that a human could have read: valid UTF-8 without NUL. */
export const readPlain: Reader = (bytes) => {
  const text = new TextDecoder().decode(bytes);
  return text.includes('\0') || text.includes('�') ? undefined : text;
};

/** Code as people write it: minified code, whatever the file is called, is a kind that is never fitted. */
export const readHandWritten: Reader = (bytes) => {
  const text = readPlain(bytes);
  return text !== undefined && text.length / text.split('\n').length < 100 ? text : undefined;
};

/** Markup without its tags: translated help pages are prose once the tags are gone. */
export const readMarkupProse: Reader = (bytes) =>
  readPlain(bytes)
    ?.replace(/<[^<>]*>/g, ' ')
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** A manual page without its macros. */
export const readManual: Reader = (bytes) => {
  const source = readPlain(gunzip(bytes));
  if (source === undefined) return undefined;
  const lines: string[] = [];
  for (const line of source.split('\n')) {
    if (line.startsWith('.\\"') || line.startsWith('\'\\"')) continue;
    lines.push(line.replace(/^[.'][A-Za-z]{1,4} ?/, '').replace(/\\f[A-Z]|\\f\([A-Z]{2}|\\&/g, ''));
  }
  return lines
    .join('\n')
    .replace(/\\-/g, '-')
    .replace(/\n{3,}/g, '\n\n');
};

/** Perl without its POD. */
export const readPerl: Reader = (bytes) => {
  const lines: string[] = [];
  let isInPod = false;
  for (const line of readPlain(bytes)?.split('\n') ?? []) {
    if (/^=[a-z]/.test(line)) isInPod = !line.startsWith('=cut');
    else if (!isInPod) lines.push(line);
  }
  return lines.join('\n');
};

/** The translations of a GNU message catalog, one message a line. */
export const readCatalog: Reader = (bytes) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 28 || view.getUint32(0, true) !== 0x950412de) return undefined;
  const count = view.getUint32(8, true);
  const table = view.getUint32(16, true);
  const decoder = new TextDecoder();
  const messages: string[] = [];
  // Entry 0 is the catalog's own header.
  for (let index = 1; index < count; index++) {
    const length = view.getUint32(table + index * 8, true);
    const offset = view.getUint32(table + index * 8 + 4, true);
    messages.push(decoder.decode(bytes.subarray(offset, offset + length)).replaceAll('\0', '\n'));
  }
  const text = messages.join('\n');
  return text.includes('�') ? undefined : text;
};

/** The bytes as base64, wrapped at 76 columns for every second file. */
export const readAsBase64: Reader = (bytes) => {
  const text = Buffer.from(bytes.subarray(0, 12_000)).toString('base64');
  return bytes.byteLength % 2 === 0 ? text : text.replace(/(.{76})/g, '$1\n');
};

/** The bytes as `xxd` (even sizes) or `hexdump -C` (odd sizes) would print them. */
export const readAsHexDump: Reader = (bytes) => {
  const lines: string[] = [];
  const end = Math.min(bytes.byteLength, 4096);
  for (let offset = 0; offset < end; offset += 16) {
    const row = bytes.subarray(offset, Math.min(offset + 16, end));
    lines.push(bytes.byteLength % 2 === 0 ? xxdLine(offset, row) : hexdumpLine(offset, row));
  }
  return lines.join('\n');
};

function xxdLine(offset: number, row: Uint8Array): string {
  const pairs = Buffer.from(row)
    .toString('hex')
    .replace(/(.{4})(?=.)/g, '$1 ');
  return `${offset.toString(16).padStart(8, '0')}: ${pairs.padEnd(39)}  ${printable(row)}`;
}

function hexdumpLine(offset: number, row: Uint8Array): string {
  const bytes = Array.from(row, (byte) => byte.toString(16).padStart(2, '0'));
  const columns = `${bytes.slice(0, 8).join(' ')}  ${bytes.slice(8).join(' ')}`;
  return `${offset.toString(16).padStart(8, '0')}  ${columns.padEnd(49)} |${printable(row)}|`;
}

function printable(row: Uint8Array): string {
  return Array.from(row, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
}

/** The bytes themselves, or what they unpack to. */
export function gunzip(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}
