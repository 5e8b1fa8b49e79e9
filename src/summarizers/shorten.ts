/** What stands in for the middle is not worth less than this. */
const SMALLEST_SAVING = 40;

/**
 * The text with its middle left out: two thirds of `limit` characters from the head, one third from the tail, and a
 * note between them. A text that is not much longer comes back as it is. No character is cut in half.
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit + SMALLEST_SAVING) return text;
  const head = headOf(text, Math.ceil((limit * 2) / 3));
  const tail = tailOf(text, limit - Math.ceil((limit * 2) / 3));
  return `${head} … [${text.length - head.length - tail.length} characters left out] … ${tail}`;
}

/** The first `length` UTF-16 units, or one less where the last would be half a character. */
function headOf(text: string, length: number): string {
  if (length >= text.length) return text;
  return text.slice(0, isHighSurrogate(text, length - 1) ? length - 1 : length);
}

function tailOf(text: string, length: number): string {
  const start = text.length - length;
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start);
}

/** Whether a character that takes two units begins here. A lone surrogate belongs to nothing and may go anywhere. */
function isHighSurrogate(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
