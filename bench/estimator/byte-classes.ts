/** The class that stands for the start of a text; no byte has it. */
export const startClass = 0;

/** How many classes a row of the automaton has room for. */
export const classLimit = 128;

/**
 * The class of each UTF-8 byte. Bytes share a class where the tokenizer treats them alike: all digits (every
 * group of up to three digits is a token), control characters, neighbouring continuation bytes, and the lead
 * bytes of scripts that are rare or split evenly.
 */
export const byteClasses: Uint8Array = classify([
  [...range(0x00, 0x08), 0x0b, 0x0c, ...range(0x0e, 0x1f), 0x7f],
  range(0x30, 0x39),
  ...each([0x09, 0x0a, 0x0d, ...range(0x20, 0x2f), ...range(0x3a, 0x7e)]),
  ...each([0xc2, 0xc3, 0xc4, 0xc5]),
  range(0xc6, 0xcd),
  ...each([0xce, 0xcf, 0xd0, 0xd1]),
  range(0xd2, 0xd5),
  range(0xd6, 0xd7),
  ...each([0xd8, 0xd9]),
  range(0xda, 0xdf),
  ...each(range(0xe0, 0xea)),
  range(0xeb, 0xed),
  range(0xee, 0xef),
  range(0xf0, 0xf4),
  ...groups(range(0x80, 0xbf), 8),
]);

function classify(classes: readonly (readonly number[])[]): Uint8Array {
  if (classes.length >= classLimit) throw new RangeError(`${classes.length} classes do not fit in a row`);
  const table = new Uint8Array(256);
  classes.forEach((bytes, index) => {
    for (const byte of bytes) table[byte] = index + 1;
  });
  return table;
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function each(bytes: readonly number[]): readonly (readonly number[])[] {
  return bytes.map((byte) => [byte]);
}

function groups(bytes: readonly number[], size: number): readonly (readonly number[])[] {
  return Array.from({ length: bytes.length / size }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
}
