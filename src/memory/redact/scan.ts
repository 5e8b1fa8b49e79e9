import { type Alphabet, holds, wordAndHyphen } from './alphabet.ts';

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
