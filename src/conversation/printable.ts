/** What a terminal shows as itself. Control, format and unassigned characters and lone surrogates are none of it. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** The text with everything a terminal would act upon, or not show, written as an escape. */
export function escapeUnprintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * Text from a stranger as safe lines: line ends stay, tabs become blanks, and everything else that a terminal would act
 * upon is written as an escape.
 */
export function printableLines(text: string): string {
  return text.replaceAll('\t', '    ').replaceAll(UNPRINTABLE, (character) => {
    if (character === '\n') return character;
    return character === '\r' ? '' : escapeUnprintable(character);
  });
}

/** What JSON leaves as it is and terminals act upon: control characters, and those that turn the direction of text. */
const ACTIVE = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** JSON text that says the same and has nothing in it that a terminal would act upon. */
export function printableJson(json: string): string {
  return json.replaceAll(
    ACTIVE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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
