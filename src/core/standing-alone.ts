import { isWordCode } from './word-characters.ts';

/** Signs that may stand around a line of its own: list marks, quotation marks, an item's number. */
const MOST_SIGNS = 12;
const ITEM_ID = /^\[[A-Z]\d{1,9}\] /;

/**
 * Where these texts have a line of `text` to themselves, but for list marks and quotation marks around them. The first
 * place of each.
 */
export function standingAlone(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  if (wanted.size === 0) return places;
  const lengths = new Set([...wanted].map(({ length }) => length));
  let longest = 0;
  for (const length of lengths) longest = Math.max(longest, length);
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (end - start <= longest + 4 * MOST_SIGNS) findIn(text, { start, end }, { wanted, lengths, places });
    start = end + 1;
  }
  return places;
}

interface Search {
  readonly wanted: ReadonlySet<string>;
  readonly lengths: ReadonlySet<number>;
  readonly places: Map<string, number>;
}

function findIn(
  text: string,
  line: { start: number; end: number },
  { wanted, lengths, places }: Search,
): void {
  const starts = beginnings(text, line.start, line.end);
  const ends = endings(text, line.start, line.end);
  for (const start of starts) {
    for (const end of ends) {
      if (!lengths.has(end - start)) continue;
      const candidate = text.slice(start, end);
      if (wanted.has(candidate) && !places.has(candidate)) places.set(candidate, start);
    }
  }
}

/** The start of a line, and behind each of the signs before its first word. */
function beginnings(text: string, from: number, to: number): readonly number[] {
  const starts = [from];
  let start = from;
  while (start < to && starts.length <= MOST_SIGNS) {
    const id = ITEM_ID.exec(text.slice(start, start + 14));
    if (id !== null) start += id[0].length;
    else if (isWordCode(text.charCodeAt(start))) break;
    else start++;
    starts.push(start);
  }
  return starts;
}

function endings(text: string, from: number, to: number): readonly number[] {
  const ends = [to];
  let end = to;
  while (end > from && ends.length <= MOST_SIGNS && !isWordCode(text.charCodeAt(end - 1))) ends.push(--end);
  return ends;
}
