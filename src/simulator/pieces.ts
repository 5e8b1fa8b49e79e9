const pieceCharacters = 12;

/** A text in the pieces in which a model streams it. No piece ends inside a character. */
export function inPieces(text: string): readonly string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / pieceCharacters) }, (_, index) =>
    characters.slice(index * pieceCharacters, (index + 1) * pieceCharacters).join(''),
  );
}
