/** The text being edited, and the cursor. */
export interface EditBuffer {
  readonly text: string;
  /** Index into the text, between characters. */
  readonly cursor: number;
}

/** An entry as lines of a screen. */
export interface ScreenLines {
  readonly lines: readonly string[];
  /** Columns of each line. */
  readonly widths: readonly number[];
  readonly cursorLine: number;
  readonly cursorColumn: number;
}

/**
 * Breaks an entry into lines before the screen would, so that it is known where everything stands. Lines stay one column
 * short of the edge, where terminals differ. Of more lines than there is room for, those around the cursor are given.
 */
export function toScreenLines(
  { text, cursor }: EditBuffer,
  { prompt, columns, rows }: { readonly prompt: string; readonly columns: number; readonly rows: number },
): ScreenLines {
  const most = Math.max(10, columns - 1);
  const written = breakLines(text, { prompt, most });
  const before = breakLines(text.slice(0, cursor), { prompt, most });
  const cursorLine = before.length - 1;
  const room = Math.max(1, rows - 1);
  const start = Math.max(0, Math.min(cursorLine - room + 1, written.length - room));
  const shown = written.slice(start, start + room);
  return {
    lines: shown.map(({ line }) => line),
    widths: shown.map(({ width }) => width),
    cursorLine: cursorLine - start,
    cursorColumn: before.at(-1)?.width ?? 0,
  };
}

interface Line {
  line: string;
  width: number;
}

function breakLines(
  text: string,
  { prompt, most }: { readonly prompt: string; readonly most: number },
): readonly Line[] {
  const lines: Line[] = [];
  for (const paragraph of text.split('\n')) {
    let last: Line = { line: lines.length === 0 ? prompt : ' '.repeat(prompt.length), width: prompt.length };
    lines.push(last);
    for (const character of paragraph.replaceAll('\t', ' ')) {
      const width = characterWidth(character);
      if (last.width + width > most) {
        last = { line: ' '.repeat(prompt.length), width: prompt.length };
        lines.push(last);
      }
      last.line += character;
      last.width += width;
    }
  }
  return lines;
}

/** Lines above the cursor once a screen of `columns` has broken them again. */
export function linesAboveCursor({ widths, cursorLine, cursorColumn }: ScreenLines, columns: number): number {
  const above = widths.slice(0, cursorLine);
  return above.reduce(
    (sum, width) => sum + Math.max(1, Math.ceil(width / columns)),
    Math.floor(cursorColumn / columns),
  );
}

/** Characters that take two columns: East Asian scripts, full-width forms and most pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /\p{M}|\u200d|\p{Variation_Selector}/u;

/** Columns that a character takes on a screen. */
export function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
