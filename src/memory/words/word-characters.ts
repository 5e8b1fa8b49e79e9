/** Stretches of code units beyond ASCII that are no letters: spaces, punctuation, arrows, boxes, symbols. */
const BETWEEN_WORDS: readonly (readonly [from: number, to: number])[] = [
  [0x80, 0xa9],
  [0xab, 0xb4],
  [0xb6, 0xb9],
  [0xbb, 0xbf],
  [0x2000, 0x206f],
  [0x2190, 0x2bff],
  [0x3000, 0x3004],
  [0x3008, 0x3020],
  [0xd83c, 0xd83e],
  [0xe000, 0xf8ff],
  [0xfe00, 0xfe6f],
  [0xff01, 0xff0f],
  [0xff1a, 0xff20],
];

const isWord = new Uint8Array(0x10000).fill(1, 0x80);
for (const [from, to] of BETWEEN_WORDS) isWord.fill(0, from, to + 1);
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') {
  isWord[letter.charCodeAt(0)] = 1;
}
// The second half of a pair belongs to the first one; alone it is taken for a letter, which does no harm.

/** Whether the code unit is part of a word: a letter or digit of any script, or an underscore. */
export function isWordCode(code: number): boolean {
  return isWord[code] === 1;
}

/** Whether a word ends before this index, or begins at it, or both: no word runs across. */
export function isWordBorder(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return true;
  return !(isWordCode(text.charCodeAt(index - 1)) && isWordCode(text.charCodeAt(index)));
}
