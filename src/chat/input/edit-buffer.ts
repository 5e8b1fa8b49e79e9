/** A text that is being written, and where in it. */
export interface EditBuffer {
  readonly text: string;
  /** Index into the text, between characters. */
  readonly cursor: number;
}

export const emptyBuffer: EditBuffer = { text: '', cursor: 0 };

export function bufferOf(text: string): EditBuffer {
  return { text, cursor: text.length };
}

export function insert({ text, cursor }: EditBuffer, piece: string): EditBuffer {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

/** Removes what stands between the cursor and where `move` takes it. */
export function removeTo(buffer: EditBuffer, move: Move): EditBuffer {
  const { cursor: other } = move(buffer);
  const start = Math.min(buffer.cursor, other);
  const end = Math.max(buffer.cursor, other);
  return { text: buffer.text.slice(0, start) + buffer.text.slice(end), cursor: start };
}

export type Move = (buffer: EditBuffer) => EditBuffer;

/** Moves of the cursor, by name. */
export const moves = {
  left: ({ text, cursor }) => ({ text, cursor: cursor - characterBefore(text, cursor) }),
  right: ({ text, cursor }) => ({ text, cursor: cursor + characterAfter(text, cursor) }),
  lineStart: ({ text, cursor }) => ({ text, cursor: text.lastIndexOf('\n', cursor - 1) + 1 }),
  lineEnd: ({ text, cursor }) => {
    const end = text.indexOf('\n', cursor);
    return { text, cursor: end < 0 ? text.length : end };
  },
  wordLeft: ({ text, cursor }) => {
    let place = cursor;
    while (place > 0 && isBlank(text, place - 1)) place--;
    while (place > 0 && !isBlank(text, place - 1)) place--;
    return { text, cursor: place };
  },
} satisfies Readonly<Record<string, Move>>;

function isBlank(text: string, index: number): boolean {
  return /\s/.test(text.charAt(index));
}

function characterBefore(text: string, cursor: number): number {
  if (cursor <= 0) return 0;
  const isPair = cursor > 1 && (text.codePointAt(cursor - 2) ?? 0) > 0xffff;
  return isPair ? 2 : 1;
}

function characterAfter(text: string, cursor: number): number {
  if (cursor >= text.length) return 0;
  return (text.codePointAt(cursor) ?? 0) > 0xffff ? 2 : 1;
}
