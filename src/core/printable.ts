/** What a terminal shows as itself. Control, format and unassigned characters and lone surrogates are none of it. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** The text with everything a terminal would act upon, or not show, written as an escape. */
export function escapeUnprintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Text from a stranger as one safe line; what is longer than `length` ends in `…`. */
export function printable(text: string, length = 120): string {
  const line = escapeUnprintable(
    text
      .slice(0, length + 1)
      .replaceAll('\n', '↵')
      .replaceAll('\t', ' '),
  );
  if (line.length <= length) return line;
  // A cut may fall into the middle of a character.
  return `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** A path as one safe line. Of a long one the end is kept, since that tells more. */
export function printablePath(path: string, length = 60): string {
  if (path.length <= length) return printable(path, length);
  return `…${printable(path.slice(path.length - length + 1), length)}`;
}
