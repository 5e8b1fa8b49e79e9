const clippedLength = 8192;

/** The first and the last 8 kB. An error's own words stand at either end; the middle is what it quotes. */
export function clipText(text: string): string {
  if (text.length <= 2 * clippedLength) return text;
  return `${text.slice(0, clippedLength)}\n${text.slice(-clippedLength)}`;
}

// `>` and `'` as some servers escape them inside JSON, for text that is too broken to be parsed.
const plain = new Map([
  [String.raw`\u003e`, '>'],
  [String.raw`\u003c`, '<'],
  [String.raw`\u0027`, "'"],
  ['&gt;', '>'],
  ['&lt;', '<'],
  ['\u2019', "'"],
]);

/** One line with single spaces, plain quotes and no escapes, so that a pattern need not care how a message was wrapped. */
export function normaliseText(text: string): string {
  return text
    .replaceAll(
      /\\u00(?:3[ec]|27)|&[gl]t;|\u2019/gi,
      (escaped) => plain.get(escaped.toLowerCase()) ?? escaped,
    )
    .replaceAll(/\s+/g, ' ')
    .trim();
}
