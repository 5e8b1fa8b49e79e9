import type { LineIndex } from './line-index.ts';
import { NameParts, takeParts } from './name-parts.ts';
import { NameTable } from './name-table.ts';
import { ORIGIN } from './sources.ts';

/** The newest part of a material shows what is being worked on. */
const RECENT_CHARACTERS = 16_000;
/** What a user writes below this is pasted. */
const ASKED_LINES = 60;
const TALKED = new Set<number>([
  ORIGIN.user,
  ORIGIN.said,
  ORIGIN.thought,
  ORIGIN.argument,
  ORIGIN.written,
  ORIGIN.plan,
]);

type Read = Pick<LineIndex, 'entities' | 'sources' | 'starts' | 'lengthCharacters'>;

/** Kept so that the code that was compiled for such objects survives a garbage collection between two digests. */
const resting: { parts?: NameParts } = {};

/**
 * Finds out how much of every name the newest messages talk of, and how much the user ever wrote of. Names are compared by
 * their parts (`session`, `state`, `store` of `sessionStateStore`), and parts that few names have count for more.
 */
export function applyFocus(index: Read, names: NameTable): void {
  const parts = new NameParts(names);
  resting.parts ??= new NameParts(new NameTable());
  const isRecent = parts.among(recentParts(index));
  const isAsked = parts.among(askedParts(index));
  const weights = parts.weights();
  const size = names.length;
  const focus = new Float64Array(size);
  const asked = new Float64Array(size);
  for (let id = 0, at = 0; id < size; id++) {
    const end = parts.ends.get(id);
    let all = 0;
    let ofFocus = 0;
    let ofAsked = 0;
    for (; at < end; at++) {
      const part = parts.ids.get(at);
      const weight = weights[part] ?? 0;
      all += weight;
      if (isRecent[part] === 1) ofFocus += weight;
      if (isAsked[part] === 1) ofAsked += weight;
    }
    if (all === 0) continue;
    focus[id] = ofFocus / all;
    asked[id] = ofAsked / all;
  }
  index.entities.focus = focus;
  index.entities.asked = asked;
}

function recentParts({ sources, starts, lengthCharacters }: Read): ReadonlySet<string> {
  const parts = new Set<string>();
  for (let number = sources.length - 1; number >= 0; number--) {
    const source = sources[number];
    if (source === undefined || (starts[number] ?? 0) < lengthCharacters - RECENT_CHARACTERS) break;
    if (!TALKED.has(source.origin)) continue;
    takeParts(source.group.title, parts);
    for (const line of source.lines) takeParts(line, parts);
  }
  return parts;
}

function askedParts({ sources }: Read): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const source of sources) {
    if (source.origin !== ORIGIN.user) continue;
    for (const line of source.lines.slice(0, ASKED_LINES)) takeParts(line, parts);
  }
  return parts;
}
