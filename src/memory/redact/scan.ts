/** A set of characters, told by their code units. */
export interface Alphabet {
  /** 1 at the index of every ASCII character that belongs to it. */
  readonly ascii: Uint8Array;
  /** Whether everything beyond ASCII belongs to it, lone surrogates included. */
  readonly hasOthers: boolean;
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const LETTERS_AND_DIGITS = UPPER + LOWER + DIGITS;

export const digits = alphabetOf(DIGITS);
export const hex = alphabetOf(`${DIGITS}abcdefABCDEF`);
export const hexAndHyphen = alphabetOf(`${DIGITS}abcdefABCDEF-`);
export const upperAndDigits = alphabetOf(UPPER + DIGITS);
export const lettersAndDigits = alphabetOf(LETTERS_AND_DIGITS);
export const word = alphabetOf(`${LETTERS_AND_DIGITS}_`);
export const wordAndHyphen = alphabetOf(`${LETTERS_AND_DIGITS}_-`);
export const wordAndDot = alphabetOf(`${LETTERS_AND_DIGITS}_-.`);
export const base64 = alphabetOf(`${LETTERS_AND_DIGITS}+/=`);
export const base64AndWord = alphabetOf(`${LETTERS_AND_DIGITS}+/=_-,`);
/** What a credential in an HTTP header is made of (`token68` in RFC 9110). */
export const headerToken = alphabetOf(`${LETTERS_AND_DIGITS}-._~+/=`);
/** What may stand in a URL without an escape (RFC 3986). */
export const unreserved = alphabetOf(`${LETTERS_AND_DIGITS}-._~`);
/** The path of a webhook; Teams puts a tenant behind `@` into it. */
export const urlPath = alphabetOf(`${LETTERS_AND_DIGITS}_-/@`);
/** Fields of a hashed password and what parts them (`crypt(5)`, the PHC string format). */
export const cryptHash = alphabetOf(`${LETTERS_AND_DIGITS}./$,=+-`);

/** Exactly these ASCII characters. */
function alphabetOf(members: string): Alphabet {
  const ascii = new Uint8Array(128);
  for (const member of members) ascii[member.charCodeAt(0)] = 1;
  return { ascii, hasOthers: false };
}

/** Every character but these, control characters and spaces. */
export function everythingBut(members: string): Alphabet {
  const ascii = new Uint8Array(128).fill(1, 33, 127);
  for (const member of members) ascii[member.charCodeAt(0)] = 0;
  return { ascii, hasOthers: true };
}

/** Whether the code unit belongs to the alphabet. NaN, which stands beyond the end of a text, belongs to none. */
export function holds({ ascii, hasOthers }: Alphabet, code: number): boolean {
  return code < 128 ? ascii[code] === 1 : hasOthers && code >= 128;
}

/** A secret in a text: what it is, and from where to where it stands, in code units. */
export interface Span {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Finds one sort of secret where a text says one of a few words. */
export interface SecretRule {
  /** What has to stand in the text, to the letter, before `find` is asked. */
  readonly starts: readonly string[];
  /** The secret that begins at `at`, where `start` stands, or behind it. */
  find(scan: Scan, at: number, start: string): Span | undefined;
}

/** What stands where a secret was. */
export function marker(kind: string): string {
  return `${MARKER}${kind}]`;
}

const MARKER = '[redacted ';

/** Escapes in whose last letter a word cannot begin: `\n` and the like, `\u0022`, `%3D`. */
const ESCAPES = /(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})$/;
const LONGEST_ESCAPE = 6;

/**
 * One way through one text, from its beginning to its end. What rules note here they note about text that stays, never
 * about a secret: so a redacted text, in which markers stand for the secrets, leads to the same notes.
 */
export class Scan {
  readonly text: string;
  /** Where the secret found last ends. Nothing before it may help to find another. */
  settledTo = 0;
  /** The program whose arguments are being read. */
  program: string | undefined;
  /** Where the value of a header of cookies begins that is being read. */
  cookiesFrom: number | undefined;
  readonly #announced: Span[] = [];
  readonly #runs = new Map<Alphabet, { readonly from: number; readonly end: number }>();

  constructor(text: string) {
    this.text = text;
  }

  /** Remembers a secret that stands further on. Where two overlap, the one that was announced first stays. */
  announce(span: Span): void {
    const next = this.#announced.findIndex(({ end }) => end > span.start);
    if (next === -1) this.#announced.push(span);
    else if ((this.#announced[next]?.start ?? 0) >= span.end) this.#announced.splice(next, 0, span);
  }

  /** The secret that was announced for this place. Places are asked for in order; what they passed is forgotten. */
  announcedAt(at: number): Span | undefined {
    while (this.#announced[0] !== undefined && this.#announced[0].start < at) this.#announced.shift();
    return this.#announced[0]?.start === at ? this.#announced.shift() : undefined;
  }

  /** The first index from `from` on whose character is not of the alphabet. Each run is read once, wherever it is entered. */
  endOfRun(alphabet: Alphabet, from: number): number {
    const known = this.#runs.get(alphabet);
    if (known !== undefined && known.from <= from && from < known.end) return known.end;
    let end = from;
    while (holds(alphabet, this.text.charCodeAt(end))) end++;
    this.#runs.set(alphabet, { from, end });
    return end;
  }

  /** Where the run of the alphabet that ends at `end` begins, as far back as `most` characters and the last secret. */
  startOfRun(alphabet: Alphabet, end: number, most: number): number {
    const lowest = Math.max(this.settledTo, end - most);
    let start = end;
    while (start > lowest && holds(alphabet, this.text.charCodeAt(start - 1))) start--;
    return start;
  }

  /**
   * Whether a secret that was taken out before stood here. What ends in front of it was judged then, together with it;
   * judged alone it might pass for a secret, and a redacted text would not stay as it is.
   */
  isRedacted(at: number): boolean {
    return this.text.startsWith(MARKER, at);
  }

  /** Whether a word can begin here: at the beginning, behind a secret, and behind what belongs to no word. */
  isWordStart(at: number): boolean {
    if (at === this.settledTo || !holds(wordAndHyphen, this.text.charCodeAt(at - 1))) return true;
    return ESCAPES.test(this.text.slice(Math.max(this.settledTo, at - LONGEST_ESCAPE), at));
  }
}
