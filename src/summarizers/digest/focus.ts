import { classOf, DIGIT, LOWER, OTHER, UPPER } from './characters.ts';
import type { LineIndex } from './line-index.ts';
import { NumberList } from './records.ts';
import { ORIGIN } from './sources.ts';

/** The newest part of a material shows what is being worked on. */
const RECENT_CHARACTERS = 16_000;
/** What a user writes below this is pasted. */
const ASKED_LINES = 60;
const SHORTEST_PART = 3;
const TALKED = new Set<number>([
  ORIGIN.user,
  ORIGIN.said,
  ORIGIN.thought,
  ORIGIN.argument,
  ORIGIN.written,
  ORIGIN.plan,
]);

type Read = Pick<LineIndex, 'entities' | 'sources' | 'starts' | 'lengthCharacters'>;

/**
 * Finds out how much of every name the newest messages talk of, and how much the user ever wrote of. Names are compared by
 * their parts (`session`, `state`, `store` of `sessionStateStore`), and parts that few names have count for more.
 */
export function applyFocus(index: Read): void {
  const { entities } = index;
  const recent = recentParts(index);
  const asked = askedParts(index);
  const size = entities.texts.length;
  const parts = countParts(entities.texts);
  const weights = parts.counts.map((count) => Math.log(1 + size / count));
  const isRecent = parts.texts.map((part) => recent.has(part));
  const isAsked = parts.texts.map((part) => asked.has(part));
  const focus = new Float64Array(size);
  const wanted = new Float64Array(size);
  for (let id = 0; id < size; id++) {
    let [all, ofFocus, ofAsked] = [0, 0, 0];
    const end = parts.ends[id] ?? 0;
    for (let index = parts.ends[id - 1] ?? 0; index < end; index++) {
      const part = parts.ids.get(index);
      const weight = weights[part] ?? 0;
      all += weight;
      if (isRecent[part] === true) ofFocus += weight;
      if (isAsked[part] === true) ofAsked += weight;
    }
    if (all === 0) continue;
    focus[id] = ofFocus / all;
    wanted[id] = ofAsked / all;
  }
  entities.focus = focus;
  entities.asked = wanted;
}

/** The distinct parts of all names with how often each occurs, and the parts of each name up to its end. */
function countParts(names: readonly string[]) {
  const known = new Map<string, number>();
  const texts: string[] = [];
  const counts: number[] = [];
  const ids = new NumberList();
  const ends: number[] = [];
  for (const name of names) {
    for (const part of partsOf(name)) {
      const id = known.get(part) ?? texts.push(part) - 1;
      if (id === counts.length) {
        known.set(part, id);
        counts.push(0);
      }
      counts[id] = (counts[id] ?? 0) + 1;
      ids.push(id);
    }
    ends.push(ids.length);
  }
  return { texts, counts, ids, ends };
}

function recentParts({ sources, starts, lengthCharacters }: Read): ReadonlySet<string> {
  const parts = new Set<string>();
  for (let number = sources.length - 1; number >= 0; number--) {
    const source = sources[number];
    if (source === undefined || (starts[number] ?? 0) < lengthCharacters - RECENT_CHARACTERS) break;
    if (!TALKED.has(source.origin)) continue;
    for (const line of [source.group.title, ...source.lines])
      for (const part of partsOf(line)) parts.add(part);
  }
  return parts;
}

function askedParts({ sources }: Read): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const { origin, lines } of sources) {
    if (origin !== ORIGIN.user) continue;
    for (const line of lines.slice(0, ASKED_LINES)) for (const part of partsOf(line)) parts.add(part);
  }
  return parts;
}

/** The parts of names and the words of a text, in lower case. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let start = -1;
  let before = OTHER;
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? classOf(text.charCodeAt(at)) : OTHER;
    const isLetter = kind === LOWER || kind === UPPER || kind === DIGIT;
    const isBreak = !isLetter || (kind === UPPER && before === LOWER);
    if (isBreak && start !== -1) {
      if (at - start >= SHORTEST_PART) parts.push(text.slice(start, at).toLowerCase());
      start = -1;
    }
    if (isLetter && start === -1) start = at;
    before = kind;
  }
  return parts;
}
