import { LINE, type LineIndex } from './line-index.ts';
import type { Records } from './records.ts';
import type { Part, Selection } from './select-lines.ts';
import type { Coverage, Group } from './sources.ts';

/** Headings of the sections, in their order. They alone stand at the beginning of a line with a `#`. */
export const SECTIONS = {
  constraints: '# Constraints',
  tools: '# Tools',
  user: '# User',
  plan: '# Plan',
  file: '# Files',
  call: '# Calls',
  said: '# Assistant',
} as const;

const KINDS: readonly Group['kind'][] = ['user', 'plan', 'file', 'call', 'said'];
/** Parts of lines follow each other on one line up to this length. */
const LONGEST_JOINED = 160;
/** Marks a part of a line. */
export const CUT = '…';
/** Stands before a title that begins like something else. */
export const ESCAPE = '\\';

/** With what the first line of a digest begins. */
const FIRST_WORDS = 'Digest of ';

/** The first line of a digest: what it stands for, and how to read it if there is room to say so. */
export function firstLine({ rounds, characters, hasOtherSummary }: Coverage, isTerse: boolean): string {
  const thousands = Math.round(characters / 1000);
  const others = hasOtherSummary ? ' and an earlier summary' : '';
  const what = `${FIRST_WORDS}${rounds} rounds${others}, ${thousands}k characters`;
  return isTerse ? what : `${what}; … marks what is left out.`;
}

/** What stands around the lines of a digest. */
export interface Frame {
  /** The folder that most files are in, or nothing. */
  readonly root: string;
  /** Whether there is no room for words about the digest itself. */
  readonly isTerse: boolean;
}

/** The digest as text: sections, in them groups under their headings, in them lines in their order. */
export function renderDigest(index: LineIndex, selection: Selection, { root, isTerse }: Frame): string {
  const parts = [firstLine(index.covered, isTerse)];
  if (index.demands.length > 0) parts.push(SECTIONS.constraints, ...index.demands.map(contentLine));
  if (index.habits.length > 0) parts.push(SECTIONS.tools, ...index.habits.map(contentLine));
  const lines = linesByGroup(index, selection);
  const byKind = groupsByKind(index, selection);
  for (const kind of KINDS) {
    const groups = byKind.get(kind);
    if (groups === undefined) continue;
    parts.push(kind === 'file' && root !== '' ? `${SECTIONS.file} in ${root}` : SECTIONS[kind]);
    for (const { group, number } of groups.sort((left, right) => left.group.round - right.group.round)) {
      const heading = headingOf(group, root);
      if (heading !== '') parts.push(heading);
      pushLines(index, { ids: lines.get(number) ?? [], parts: selection.lines }, parts);
    }
  }
  return parts.join('\n');
}

interface NumberedGroup {
  readonly group: Group;
  readonly number: number;
}

function groupsByKind({ groups }: LineIndex, selection: Selection): Map<Group['kind'], NumberedGroup[]> {
  const byKind = new Map<Group['kind'], NumberedGroup[]>();
  for (const number of selection.groups) {
    const group = groups[number];
    if (group === undefined) continue;
    const known = byKind.get(group.kind);
    if (known === undefined) byKind.set(group.kind, [{ group, number }]);
    else known.push({ group, number });
  }
  return byKind;
}

/** The heading of a group; empty for messages, which follow each other. */
export function headingOf(group: Group, root: string): string {
  if (group.kind === 'user' || group.kind === 'said') return '';
  const title = oneLine(group.kind === 'file' ? below(root, group.title) : group.title);
  const changes =
    group.changes === 0
      ? ''
      : ` (changed ${group.changes}x${group.status === '' ? '' : `: ${group.status}`})`;
  const heading = `${title}${changes}${group.isFailed ? ' (failed)' : ''}`;
  const isMistakable =
    heading === '' || '# \\'.includes(heading.charAt(0)) || heading.startsWith(FIRST_WORDS);
  return isMistakable ? `${ESCAPE}${heading}` : heading;
}

// Whatever a reader may take for the end of a line.
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]/g;

function oneLine(text: string): string {
  return text.replaceAll(LINE_BREAKS, ' ');
}

/** Content is indented by one space, so that no line of it can pass for a heading. Its own indentation stays. */
function contentLine(text: string): string {
  return ` ${oneLine(text)}`;
}

/** A path without the folder that most of them are in, unless the name of its own folder would be lost. */
function below(root: string, path: string): string {
  if (root === '' || !path.startsWith(root)) return path;
  const rest = path.slice(root.length);
  return rest.includes('/') ? rest : path;
}

const MOST_FILES = 0.6;
const DEEPEST_ROOT = 12;

/**
 * The deepest folder that most files are in, with a slash behind it; empty when there is none. The folder of the file itself
 * does not count: its name stays with the file's.
 */
export function commonRoot(paths: readonly string[]): string {
  const absolute = paths.filter((path) => path.startsWith('/'));
  const counts = new Map<string, number>();
  for (const path of absolute) {
    const own = path.lastIndexOf('/');
    let end = path.indexOf('/', 1);
    for (let depth = 0; depth < DEEPEST_ROOT && end !== -1 && end < own; depth++) {
      const folder = path.slice(0, end + 1);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
      end = path.indexOf('/', end + 1);
    }
  }
  let root = '';
  for (const [folder, count] of counts) {
    if (count >= 2 && count >= absolute.length * MOST_FILES && folder.length > root.length) root = folder;
  }
  return LINE_BREAKS.test(root) ? '' : root;
}

function linesByGroup(
  { lines: { records } }: LineIndex,
  selection: Selection,
): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<number, number[]>();
  for (const id of selection.lines.keys()) {
    const group = records.get(id, LINE.group);
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [id]);
    else known.push(id);
  }
  for (const ids of groups.values()) {
    ids.sort(
      (left, right) =>
        records.get(left, LINE.source) - records.get(right, LINE.source) ||
        records.get(left, LINE.place) - records.get(right, LINE.place) ||
        left - right,
    );
  }
  return groups;
}

/** The lines of a group in their order; whole ones with an empty line where some are missing, parts one after the other. */
function pushLines(
  { lines }: LineIndex,
  { ids, parts }: { readonly ids: readonly number[]; readonly parts: ReadonlyMap<number, Part> },
  into: string[],
): void {
  const first = into.length;
  let last = -1;
  for (const id of ids) {
    const line = lines.texts[id];
    const part = parts.get(id);
    if (line === undefined || part === undefined) continue;
    const isWhole = part.end - part.start >= lines.contentLength(id);
    const text = isWhole ? line : line.slice(part.start, part.end);
    // What an earlier digest showed in part is no whole line.
    if (!isWhole || text.startsWith(CUT)) {
      pushPart(into, first, text.startsWith(CUT) ? text.slice(CUT.length) : text);
    } else {
      if (last !== -1 && !isNext(lines.records, last, id) && !isCut(into.at(-1))) into.push('');
      into.push(contentLine(text));
    }
    last = id;
  }
}

/** Whether a line stands right behind another one. */
function isNext(records: Records, before: number, id: number): boolean {
  return (
    records.get(before, LINE.source) === records.get(id, LINE.source) &&
    records.get(id, LINE.place) <= records.get(before, LINE.place) + 1
  );
}

function pushPart(shown: string[], first: number, text: string): void {
  const before = shown.length > first ? (shown.at(-1) ?? '') : '';
  const piece = contentLine(`${CUT}${text}`);
  const isJoined = isCut(before) && before.length + piece.length <= LONGEST_JOINED;
  if (isJoined) shown[shown.length - 1] = before + piece;
  else shown.push(piece);
}

function isCut(line: string | undefined): boolean {
  return line?.startsWith(` ${CUT}`) === true;
}
