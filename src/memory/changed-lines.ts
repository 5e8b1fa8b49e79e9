/** Chooses the lines by which a memory tells an edit. */

import type { Change } from './actions.ts';
import type { StoryContext } from './offer/story-place.ts';

const MOST_LINES = 12;
const LONGEST_LINE = 240;
const SHORTEST_LINE = 9;
const MOST_REMOVED = 3;
const DECLARATION =
  /\b(?:function|func|def|class|interface|type|struct|enum|fn|const|export|describe|it|test)\b/;
/** What a line of a change is worth beside others: one that declares something, one of a few, one of many, a removed one. */
const WEIGHT = { declares: 1.2, few: 1, many: 0.35, removed: 0.8 } as const;
/** A line that a later edit took away again tells only that it was tried. */
const REPLACED_SHARE = 0.3;
/** Before a line that an edit wrote and that is not there any more. */
const REPLACED = '+ (replaced since) ';
const ADDED = '+ ';

/** A line that tells a change. */
export interface ChangedLine {
  readonly text: string;
  readonly weight: number;
}

/** The lines of a file as they are now, without indentation. */
export function currentLines(path: string, { state, linesOf }: StoryContext): ReadonlySet<string> {
  const file = state.files.at(path);
  const known = linesOf.get(file);
  if (known !== undefined) return known;
  const lines = new Set(file.stretches.flatMap((stretch) => stretch.lines.map(({ text }) => text.trim())));
  linesOf.set(file, lines);
  return lines;
}

/** The lines that tell a change: what it added, or what it took away where it added nothing. */
export function changedLines(
  changes: readonly Change[],
  current: ReadonlySet<string>,
): readonly ChangedLine[] {
  const lines = changes.flatMap((change) => linesOfChange(change, current));
  if (lines.length <= MOST_LINES) return lines;
  const weights = lines.map(({ weight }) => weight).toSorted((left, right) => right - left);
  const least = weights[MOST_LINES - 1] ?? 0;
  return lines.filter(({ weight }) => weight >= least).slice(0, MOST_LINES);
}

function linesOfChange(
  { old = '', new: text }: Change,
  current: ReadonlySet<string>,
): readonly ChangedLine[] {
  const [before, after] = [tellingLinesOf(old), tellingLinesOf(text)];
  const added = [...after].filter((line) => !before.has(line));
  if (added.length === 0) {
    const removed = [...before].filter((line) => !after.has(line)).slice(0, MOST_REMOVED);
    return removed.map((line) => ({ text: `- ${line.slice(0, LONGEST_LINE)}`, weight: WEIGHT.removed }));
  }
  // An edit may begin and end within a line.
  const edges = new Set([added[0], added.at(-1)]);
  const isCurrent = (line: string) =>
    current.has(line) || (edges.has(line) && [...current].some((each) => each.includes(line)));
  const usual = added.length <= MOST_REMOVED ? WEIGHT.few : WEIGHT.many;
  return added.map((line) => {
    const weight = DECLARATION.test(line) ? WEIGHT.declares : usual;
    const shown = line.slice(0, LONGEST_LINE);
    return isCurrent(line)
      ? { text: `${ADDED}${shown}`, weight }
      : { text: `${REPLACED}${shown}`, weight: weight * REPLACED_SHARE };
  });
}

function tellingLinesOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(({ length }) => length >= SHORTEST_LINE),
  );
}

/** A line of a change that an earlier memory tells, marked when a later edit has replaced it. */
export function markReplaced(line: string, current: ReadonlySet<string>): string {
  if (!line.startsWith(ADDED) || line.startsWith(REPLACED) || current.size === 0) return line;
  const text = line.slice(ADDED.length);
  return [...current].some((each) => each.includes(text)) || text.length >= LONGEST_LINE
    ? line
    : `${REPLACED}${text}`;
}
