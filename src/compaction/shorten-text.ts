/** Tokens are not spread evenly over a text: a miss corrects the next try. */
const TRIES = 4;
/** Each try aims a little lower: the note counts too, and by the mere ratio one would only ever come closer. */
const AIM = 0.99;

/**
 * A text of so many tokens at most: two thirds from its beginning, one third from its end, and a note between that says
 * how much is left out. The very same text when it is short enough.
 */
export function shortenText(text: string, tokens: number, countText: (text: string) => number): string {
  let size = countText(text);
  let length = text.length;
  let shorter = text;
  for (let tries = 0; tries < TRIES && size > tokens; tries++) {
    length = Math.floor((length * Math.max(0, tokens) * AIM) / size);
    shorter = leaveOutMiddle(text, length);
    size = countText(shorter);
  }
  return shorter;
}

/** Halves no character. */
function leaveOutMiddle(text: string, length: number): string {
  const tailLength = Math.floor(length / 3);
  const head = text.slice(0, length - tailLength).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - tailLength).replace(/^[\uDC00-\uDFFF]/, '');
  const middle = text.slice(head.length, text.length - tail.length);
  return `${head}\n[${originalLength(middle)} characters left out to fit the context window]\n${tail}`;
}

const NOTE = /\n\[(\d{1,12}) characters left out to fit the context window\]\n/g;

/** A text that was shortened before counts as what it was then. */
function originalLength(text: string): number {
  let length = text.length;
  for (const [note, count] of text.matchAll(NOTE)) length += Number(count) - note.length;
  return length;
}
