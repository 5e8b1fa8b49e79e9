/** The bytes that give JSON its structure. */
export const code = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** The space JSON allows between tokens. */
export function isSpace(byte: number): boolean {
  return byte === code.space || byte === code.lineFeed || byte === code.carriageReturn || byte === code.tab;
}

/** Space, or the NUL bytes that a crash leaves where a block of the file was never written. */
export function isBlank(byte: number): boolean {
  return isSpace(byte) || byte === 0;
}

export function isDigit(byte: number): boolean {
  return byte >= code.zero && byte <= code.nine;
}

const valueStarts = byteTable('{["-0123456789tfn');
const tokenEnds = byteTable('\0 \t\r\n,:{}[]"');
const continuations = byteTable(',:]}');

/** Whether a JSON value can begin with this byte. */
export function startsValue(byte: number): boolean {
  return valueStarts[byte] === 1;
}

/** Whether a number or a literal is over at this byte. */
export function endsToken(byte: number): boolean {
  return tokenEnds[byte] === 1;
}

/** Whether this byte can only stand after the beginning of a value: a separator or a closing bracket. */
export function continuesValue(byte: number): boolean {
  return continuations[byte] === 1;
}

function byteTable(members: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(members, 'latin1')) table[byte] = 1;
  return table;
}
