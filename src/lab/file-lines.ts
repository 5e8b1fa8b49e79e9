/** A shorter line stands anywhere and tells nothing. */
export const LINE_CHARACTERS = 20;

/** Numbers that readers of files put in front of lines: `  12→`, `12: `, `12| `, `path/file.ts:12:`. */
const NUMBERING = /^(?:[\w./-]{1,200}[:-])?\s{0,10}\d{1,7}(?:→|\t|[:|-] ?)/;

/** A line without the number that a reader put in front of it, and without white space at its ends. */
export function bareLine(line: string): string {
  return line.replace(NUMBERING, '').trim();
}

/** Whether a bare line is long enough, and not made of signs alone. */
export function isTellingLine(line: string): boolean {
  return line.length >= LINE_CHARACTERS && (line.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= LINE_CHARACTERS / 2;
}

/** A longer line is data, of which nobody keeps the whole. */
export const LONGEST_LINE = 2000;

/** The line of a text that a stretch of it stands on; of a very long one, more than the longest that counts. */
export function lineAround(text: string, start: number, end: number): string {
  const from = Math.max(0, start - LONGEST_LINE);
  const piece = text.slice(from, end + LONGEST_LINE);
  const newline = piece.indexOf('\n', end - from);
  const lineStart = start === from ? 0 : piece.lastIndexOf('\n', start - from - 1) + 1;
  return piece.slice(lineStart, newline === -1 ? piece.length : newline);
}
