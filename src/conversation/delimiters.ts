/** A text between two lines that do not occur in it. */
export interface Fenced {
  /** The opening line. */
  readonly open: string;
  /** The closing line. */
  readonly close: string;
  /** Opening line, text and closing line. */
  readonly text: string;
}

/**
 * Puts a text between two lines that it cannot forge: they carry a token that occurs in none of `texts`, not even in
 * other case, in full-width letters or with invisible characters in between. The token is derived from the texts, so
 * that the same texts always give the same lines.
 */
export function fence(label: string, text: string, token: string): Fenced {
  const open = `<<<${label} ${token}>>>`;
  const close = `<<<end ${label} ${token}>>>`;
  return { open, close, text: `${open}\n${text}\n${close}` };
}

/**
 * A token for `fence` that occurs in none of the texts.
 * @param propose the candidate of each attempt, every time another one; default: a hash of the texts
 */
export function tokenFor(
  texts: readonly string[],
  propose: (attempt: number) => string = hashOf(texts),
): string {
  const folded = texts.map(fold);
  // Every attempt gives another token, and texts of n characters hold fewer than n of them, so this ends.
  for (let attempt = 0; ; attempt++) {
    const token = propose(attempt);
    if (!folded.some((text) => text.includes(token))) return token;
  }
}

function hashOf(texts: readonly string[]): (attempt: number) => string {
  return (attempt) => `${attempt.toString(36)}${hash(texts, attempt)}`;
}

const SHORT_TOKEN = 4;
const SHORT_ATTEMPTS = 8;

/**
 * The same for one text that is sent again and again: a token of four characters, if one is found that does not occur in it. What
 * protects is that it does not, and not how long it is.
 */
export function shortTokenFor(text: string): string {
  const propose = hashOf([text]);
  return tokenFor([text], (attempt) =>
    attempt < SHORT_ATTEMPTS ? hash([text], attempt).slice(0, SHORT_TOKEN) : propose(attempt),
  );
}

const INVISIBLE = /\p{Cf}/gu;

function fold(text: string): string {
  return text.normalize('NFKC').replaceAll(INVISIBLE, '').toLowerCase();
}

/** FNV-1a over the UTF-16 units of all texts, as eight hexadecimal digits. Not a secret: `includes` is what protects. */
function hash(texts: readonly string[], seed: number): string {
  let state = (0x811c9dc5 ^ seed) >>> 0;
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) {
      state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
    }
    state = Math.imul(state ^ 0x1f, 0x01000193);
  }
  return (state >>> 0).toString(16).padStart(8, '0');
}
