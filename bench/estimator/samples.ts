import { byteClasses, startClass } from './byte-classes.ts';
import type { Piece } from './corpus.ts';
import { labelText } from './exact-labels.ts';
import { createRandom, hashText, integer } from './seeded.ts';

/** Labelled texts laid end to end. Each begins with the start class, which carries no label. */
export interface Samples {
  readonly classes: Uint8Array;
  readonly startsToken: Uint8Array;
  /** Where each text begins; one entry more than there are texts. */
  readonly offsets: Uint32Array;
  readonly tokens: Float64Array;
  readonly kinds: readonly string[];
}

/** Beginnings of texts of 8 to 240 characters: long pieces alone say little about how a text starts. */
export const shortKind = 'short texts';

/** Labels every piece. */
export function labelPieces(pieces: readonly Piece[]): Samples {
  const labelled = pieces.map((piece) => labelText(piece.text));
  const sizeBytes = labelled.reduce((sum, text) => sum + text.bytes.length + 1, 0);
  const classes = new Uint8Array(sizeBytes);
  const startsToken = new Uint8Array(sizeBytes);
  const offsets = new Uint32Array(pieces.length + 1);
  let offset = 0;
  labelled.forEach((text, index) => {
    offsets[index] = offset;
    classes[offset++] = startClass;
    startsToken.set(text.startsToken, offset);
    for (const byte of text.bytes) classes[offset++] = byteClasses[byte]!;
  });
  offsets[pieces.length] = offset;
  return {
    classes,
    startsToken,
    offsets,
    tokens: Float64Array.from(labelled, (text) => text.tokens),
    kinds: pieces.map((piece) => piece.kind),
  };
}

/** Two short texts from each piece, cut at the start of a line. */
export function shortPieces(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.flatMap(({ text }) => {
    const random = createRandom(hashText(text));
    return [0, 1].map(() => {
      const lineStart = text.indexOf('\n', integer(random, 0, text.length - 1)) + 1;
      const end = lineStart + integer(random, 8, 8 + Math.floor(232 * random()));
      return { kind: shortKind, text: text.slice(lineStart, end).toWellFormed() };
    });
  });
}
