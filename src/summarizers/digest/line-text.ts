const SPACE = 32;
const PIECE = 120;

/** The same string where nothing is to be cut off, which most lines are. */
export function withoutTrailingSpace(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last <= SPACE || last > 127 ? text.trimEnd() : text;
}

/** How many white-space characters a line begins with. */
export function indentOf(text: string): number {
  let indent = 0;
  while (text.charCodeAt(indent) === SPACE) indent++;
  const first = text.charCodeAt(indent);
  return first < SPACE || first > 127 ? text.length - text.trimStart().length : indent;
}

/** A long line in pieces, cut where words end. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + PIECE);
    if (end < text.length) {
      const cut = Math.max(lastIn(text, ' ', start, end), lastIn(text, ',', start, end - 1) + 1);
      if (cut > start + PIECE / 2) end = cut;
    }
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** Where a character last stands in a stretch of a text; -1 for nowhere. Never looks further back. */
function lastIn(text: string, character: string, start: number, end: number): number {
  const found = text.slice(start, end + 1).lastIndexOf(character);
  return found === -1 ? -1 : start + found;
}
