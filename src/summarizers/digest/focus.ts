import { classOf, DIGIT, LOWER, OTHER, UPPER } from './characters.ts';
import type { LineIndex } from './line-index.ts';
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
  const parts = entities.map(({ text }) => partsOf(text));
  const names = new Map<string, number>();
  for (const own of parts) for (const part of own) names.set(part, (names.get(part) ?? 0) + 1);
  for (const [id, entity] of entities.entries()) {
    let all = 0;
    for (const part of parts[id] ?? []) {
      const weight = Math.log(1 + entities.length / (names.get(part) ?? 1));
      all += weight;
      if (recent.has(part)) entity.focus += weight;
      if (asked.has(part)) entity.asked += weight;
    }
    if (all === 0) continue;
    entity.focus /= all;
    entity.asked /= all;
  }
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
