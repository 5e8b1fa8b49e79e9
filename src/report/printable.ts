/**
 * Text from a stranger as one safe line for a terminal: control characters (escape sequences, line breaks, marks that
 * turn the direction of writing) become visible, and what is longer than `length` ends in `…`.
 */
export function printable(text: string, length = 120): string {
  const visible = text.slice(0, length * 2).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, escapeCharacter);
  return visible.length > length || text.length > length * 2 ? `${visible.slice(0, length - 1)}…` : visible;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '↵';
  if (character === '\t') return ' ';
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** A path as one safe line. Of a long one the end is kept, since that tells more. */
export function printablePath(path: string, length = 60): string {
  if (path.length <= length) return printable(path, length);
  return `…${printable(path.slice(path.length - length + 1), length)}`;
}
