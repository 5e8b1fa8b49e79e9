/** Writes the text of a memory from the pieces that were chosen. */

import type { Choice } from './choose.ts';
import { type PartName, type Piece, partNames } from './offer/piece.ts';

/** Headings of the parts. */
export const HEADINGS: Readonly<Record<PartName, string>> = {
  state: '## Where we are',
  said: '## What the user said',
  story: '## What happened',
  files: '## Files as they are now',
};

/** First words of the lines of the first part. */
export const STATE_HEADS = {
  /** Before what a model wrote, in this part and in the story. */
  prose: 'By a model:',
  request: 'Request in force:',
  tasks: 'Tasks:',
  checks: 'Last checks:',
  git: 'Git:',
  running: 'Still running:',
  changed: 'Files changed, newest first:',
} as const;

/** Behind a file that was seen before a command put other versions of files in its place. */
export const SEEN_BEFORE = ' [seen before ';
/** Behind the status of a check that ran before files were changed again. */
export const OUTDATED = ' (before later edits)';
/** Introduces the files whose current version is in no commit. */
export const UNCOMMITTED = 'not committed yet: ';
/** Replaces the list of files when all changed files are uncommitted. */
export const ALL_CHANGED = 'all changed files';

/** The first line of a memory, as it is read back. */
export const OPENING = /^Memory of (\d{1,9}) rounds\.(?: .{0,300}?)?(?: Paths are below (\/.{1,300}))?$/s;

export interface Frame {
  /** How many rounds the memory stands for. */
  readonly rounds: number;
  /** The folder that paths are relative to; empty where there is none. */
  readonly root: string;
  /** Whether there is no room for words about the memory itself. */
  readonly isTerse: boolean;
  /** Handles under which everything can be read again, the oldest first: the first one is called A. */
  readonly handles: readonly string[];
}

/** Replaces a text of the user that the same message quotes in front of the memory. */
export const QUOTED_ABOVE = '(quoted above)';

/** Stands where something is left out. */
export const CUT = '…';

/** The first lines of a memory. */
export function opening({ rounds, root, handles, isTerse }: Frame): string {
  const legend = isTerse
    ? ''
    : ` [n] numbers the user's messages; agent: quotes the agent; ${CUT} marks a cut.`;
  const about = `Memory of ${rounds} rounds.${legend}`;
  const first = root === '' ? about : `${about} Paths are below ${root}`;
  if (handles.length === 0) return first;
  return `${first}\n${PAGES}${handles.map((handle, index) => `${letterOf(index)} ${handle}`).join(', ')}`;
}

/** Before the handles. A page `B12` is page 12 of the handle B. */
export const PAGES = 'The original can be read again by handle and page, as (A1): ';

/** The label of a page. */
export function pageLabel(handle: number, page: number): string {
  return `${letterOf(handle)}${page}`;
}

function letterOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${letterOf(Math.floor(index / 26) - 1)}${letter}`;
}

/** Writes what was chosen, part by part, in the order of events. */
export function tell(choice: Choice, frame: Frame): string {
  const lines = [opening(frame)];
  const pieces = [...choice.keys()];
  for (const part of partNames) {
    const own = pieces
      .filter((piece) => piece.part === part)
      .toSorted((left, right) => left.place - right.place);
    if (own.length === 0) continue;
    lines.push('', HEADINGS[part]);
    let turn = 0;
    let page: string | undefined;
    for (const piece of own) {
      if (part === 'story' && piece.turn !== turn) lines.push(`[${piece.turn}]`);
      const text = tellPiece(piece, choice.get(piece) ?? new Set());
      lines.push(piece.page === undefined || piece.page === page ? text : withPage(text, piece.page));
      turn = piece.turn;
      page = piece.page ?? page;
    }
  }
  return lines.join('\n');
}

/** The label stands at the end of the first line. */
function withPage(text: string, page: string): string {
  const end = text.indexOf('\n');
  return end === -1 ? `${text} (${page})` : `${text.slice(0, end)} (${page})${text.slice(end)}`;
}

function tellPiece(piece: Piece, chosen: ReadonlySet<number>): string {
  return piece.part === 'files' ? tellFile(piece, chosen) : tellLine(piece, chosen);
}

function tellLine({ part, head, units }: Piece, chosen: ReadonlySet<number>): string {
  let text = part === 'story' ? `- ${head}` : head;
  let last = -1;
  for (const [index, unit] of units.entries()) {
    if (!chosen.has(index)) continue;
    const isFirst = last === -1;
    const words = isFirst ? unit.text.replace(/^[;,:] |^\s+/, part === 'state' ? '$&' : '') : unit.text;
    const isGap = index !== last + 1 && part !== 'state' && !unit.startsLine && !/^[;,:]/.test(words);
    text += `${separatorOf(unit, { isFirst, part, words, text })}${isGap ? `${CUT} ` : ''}${indented(words)}`;
    last = index;
  }
  return text;
}

function separatorOf(
  { startsLine }: Piece['units'][number],
  {
    isFirst,
    part,
    words,
    text,
  }: { readonly isFirst: boolean; readonly part: PartName; readonly words: string; readonly text: string },
): string {
  if (startsLine && (!isFirst || part === 'state')) return '\n  ';
  return /^[;,:]/.test(words) || text === '' || text.endsWith(' ') ? '' : ' ';
}

/** Lines that go on are indented, so that only what begins something stands at the beginning of a line. */
export function indented(text: string): string {
  return text.includes('\n') ? text.replaceAll('\n', '\n  ') : text;
}

/** Whether nothing but single lines of the one stretch stands between two stretches. */
function isNextStretch(units: Piece['units'], last: number, index: number): boolean {
  return units.slice(last + 1, index).every(({ within }) => within === last);
}

/** A fence that no line of a text is. */
function fenceFor(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  return '`'.repeat(Math.min(20, longest + 1));
}

/** The lines of a file between fences, so that nothing in them passes for a heading of the memory. */
function tellFile({ head, units }: Piece, chosen: ReadonlySet<number>): string {
  const parts: string[] = [];
  let last = -1;
  for (const [index, { text, within }] of units.entries()) {
    if (!chosen.has(index) || (within !== undefined && chosen.has(within))) continue;
    const isKey = within !== undefined;
    if (last !== -1 && !isKey && !isNextStretch(units, last, index)) parts.push(CUT);
    parts.push(text);
    last = index;
  }
  const body = parts.join('\n');
  const fence = fenceFor(body);
  return `${head}\n${fence}\n${body}\n${fence}`;
}
