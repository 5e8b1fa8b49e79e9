/** Looks for many texts at once. */
export interface TextFinder {
  /**
   * Which of those not found so far occur in this text, and where first. One pass, however many are looked for; a text
   * that is made to be slow is given up before it costs more, and what was not found until then counts as missing.
   */
  search(text: string): ReadonlyMap<string, number>;
}

/** Whether a match counts at this place: at the end of a word, say, or on a line of its own. */
export type IsPlace = (text: string, start: number, end: number) => boolean;

/** Characters by which a text is recognised. */
const GRAM = 4;
const BITS = 16;
const MASK = (1 << BITS) - 1;
const SHIFT = BITS / GRAM;

/** Comparisons per character that a search may take, and what every search may take besides. */
const CHECKS = 8;
const FREE_CHECKS = 50_000;

interface Wanted {
  readonly text: string;
  /** Where the characters end by which it is recognised. */
  readonly offset: number;
}

/** Makes a finder of these texts. */
export function createTextFinder(wanted: Iterable<string>, isPlace: IsPlace = () => true): TextFinder {
  const all = new Set(wanted);
  all.delete('');
  const short = new Set([...all].filter(({ length }) => length < GRAM));
  const byGram = indexByRarestGram([...all].filter(({ length }) => length >= GRAM));
  const mayEnd = new Uint8Array(MASK + 1);
  for (const gram of byGram.keys()) mayEnd[gram] = 1;

  return {
    search(text) {
      const found = new Map<string, number>();
      searchShort(text, short, isPlace, found);
      searchGrams(text, { byGram, mayEnd, isPlace }, found);
      for (const each of found.keys()) short.delete(each);
      return found;
    },
  };
}

function searchShort(
  text: string,
  short: Iterable<string>,
  isPlace: IsPlace,
  found: Map<string, number>,
): void {
  for (const wanted of short) {
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
      if (!isPlace(text, at, at + wanted.length)) continue;
      found.set(wanted, at);
      break;
    }
  }
}

interface GramIndex {
  readonly byGram: Map<number, Wanted[]>;
  readonly mayEnd: Uint8Array;
  readonly isPlace: IsPlace;
}

function searchGrams(text: string, { byGram, mayEnd, isPlace }: GramIndex, found: Map<string, number>): void {
  let checks = text.length * CHECKS + FREE_CHECKS;
  let gram = 0;
  for (let index = 0; index < text.length; index++) {
    gram = ((gram << SHIFT) ^ text.charCodeAt(index)) & MASK;
    if (mayEnd[gram] === 0) continue;
    const candidates = byGram.get(gram);
    if (candidates === undefined) continue;
    checks -= candidates.length;
    if (checks < 0) return;
    const left = candidates.filter((wanted) => {
      const start = index - wanted.offset;
      const isFound =
        start >= 0 && text.startsWith(wanted.text, start) && isPlace(text, start, start + wanted.text.length);
      if (isFound) found.set(wanted.text, start);
      return !isFound;
    });
    if (left.length < candidates.length) byGram.set(gram, left);
    if (left.length === 0) mayEnd[gram] = 0;
  }
}

/** Each text, filed under that run of its characters which the fewest other texts contain. */
function indexByRarestGram(texts: readonly string[]): Map<number, Wanted[]> {
  const counts = new Uint32Array(MASK + 1);
  for (const text of texts) countGrams(text, counts);
  const byGram = new Map<number, Wanted[]>();
  for (const text of texts) {
    const { gram, offset } = rarestGram(text, counts);
    const known = byGram.get(gram);
    if (known === undefined) byGram.set(gram, [{ text, offset }]);
    else known.push({ text, offset });
  }
  return byGram;
}

// The key of the last characters depends on them alone: those before them are shifted out.
function countGrams(text: string, counts: Uint32Array): void {
  let gram = 0;
  for (let index = 0; index < text.length; index++) {
    gram = ((gram << SHIFT) ^ text.charCodeAt(index)) & MASK;
    if (index >= GRAM - 1) counts[gram] = (counts[gram] ?? 0) + 1;
  }
}

function rarestGram(text: string, counts: Uint32Array): { readonly gram: number; readonly offset: number } {
  let gram = 0;
  let fewest = Number.POSITIVE_INFINITY;
  let rarest = { gram: 0, offset: 0 };
  for (let index = 0; index < text.length; index++) {
    gram = ((gram << SHIFT) ^ text.charCodeAt(index)) & MASK;
    const count = counts[gram] ?? 0;
    if (index < GRAM - 1 || count >= fewest) continue;
    fewest = count;
    rarest = { gram, offset: index };
  }
  return rarest;
}
