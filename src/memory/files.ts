/** The files of a conversation with their current lines, as far as calls and results have shown them. */

import type { FileChange } from './actions.ts';
import type { ListedLine } from './tool-output.ts';

/** A line of a file as it is now, as far as the conversation has shown it. */
export interface KnownLine {
  text: string;
  /** When it was last shown or written. */
  at: number;
  /** How often it was shown. */
  shown: number;
  /** When an edit wrote it, or a neighbour of it; -1 where none did. */
  changedAt: number;
}

/** Lines that follow each other. */
export interface Stretch {
  /** Number of the first line; undefined where nothing told it. */
  start: number | undefined;
  lines: KnownLine[];
}

/** What is known of one file: its current lines and what was done to it. */
export class KnownFile {
  path: string;
  stretches: Stretch[] = [];
  changes = 0;
  changedAt = -1;
  lookedAt = -1;
  isNew = false;
  isRemoved = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Takes in lines that were shown. They replace what was known of the same place. */
  look(listed: readonly ListedLine[], at: number): void {
    this.lookedAt = at;
    for (let from = 0; from < listed.length; ) {
      let to = from + 1;
      const start = listed[from]?.number;
      while (to < listed.length && isNext(listed[to - 1]?.number, listed[to]?.number)) to++;
      const lines = listed.slice(from, to).map(({ text }) => ({ text, at, shown: 1, changedAt: -1 }));
      this.dropFloating(lines);
      if (start === undefined) this.stretches.push({ start, lines });
      else this.put({ start, lines });
      from = to;
    }
  }

  /** Applies a change to what is known. What it replaced is known no more. */
  change({ changes, isRemoved = false }: FileChange, at: number): void {
    this.changes++;
    this.changedAt = at;
    this.isRemoved = isRemoved;
    if (isRemoved) this.stretches = [];
    for (const { old, new: text } of changes) {
      const lines = text.split('\n').map((line) => ({ text: line, at, shown: 1, changedAt: at }));
      if (old === undefined) {
        this.isNew ||= this.lookedAt === -1 && this.changes === 1;
        this.stretches = [{ start: 1, lines }];
      } else if (old === '' || !this.replace(old, text, at)) {
        this.dropLines(old);
        if (text !== '') this.stretches.push({ start: undefined, lines });
      }
    }
  }

  private replace(old: string, text: string, at: number): boolean {
    for (const stretch of this.stretches.toReversed()) {
      const whole = stretch.lines.map((line) => line.text).join('\n');
      const found = whole.indexOf(old);
      if (found === -1) continue;
      const before = whole.slice(0, found);
      const first = countBreaks(before);
      const last = first + countBreaks(old);
      const head = before.slice(before.lastIndexOf('\n') + 1);
      const rest = whole.slice(found + old.length);
      const end = rest.indexOf('\n');
      const tail = end === -1 ? rest : rest.slice(0, end);
      const fresh = `${head}${text}${tail}`
        .split('\n')
        .map((line) => ({ text: line, at, shown: 1, changedAt: at }));
      stretch.lines.splice(first, last - first + 1, ...fresh);
      this.shiftBehind(stretch, fresh.length - (last - first + 1));
      return true;
    }
    return false;
  }

  /** Lines that an edit replaced though nobody had shown them in one piece. */
  private dropLines(old: string): void {
    const gone = new Set(old.split('\n').filter((line) => line.trim().length > 12));
    if (gone.size === 0) return;
    for (const stretch of this.stretches) stretch.lines = stretch.lines.filter(({ text }) => !gone.has(text));
  }

  private shiftBehind(changed: Stretch, delta: number): void {
    if (delta === 0 || changed.start === undefined) return;
    for (const stretch of this.stretches)
      if (stretch !== changed && stretch.start !== undefined && stretch.start > changed.start)
        stretch.start += delta;
  }

  /** Pieces whose place was unknown, and that are shown now with their place. */
  private dropFloating(lines: readonly KnownLine[]): void {
    if (lines.length < 2 || this.stretches.every(({ start }) => start !== undefined)) return;
    const shown = new Map(lines.map((line) => [line.text, line]));
    this.stretches = this.stretches.filter((stretch) => {
      if (stretch.start !== undefined) return true;
      const telling = stretch.lines.filter(({ text }) => text.trim().length > 12);
      const known = telling.filter(({ text }) => shown.has(text));
      if (telling.length === 0 || known.length * 2 < telling.length) return telling.length > 0;
      for (const { text, changedAt } of known) {
        const line = shown.get(text);
        if (line !== undefined) line.changedAt = Math.max(line.changedAt, changedAt);
      }
      return false;
    });
  }

  private put({ start, lines }: { readonly start: number; readonly lines: KnownLine[] }): void {
    const end = start + lines.length;
    const kept: Stretch[] = [];
    for (const stretch of this.stretches) {
      const from = stretch.start;
      if (from === undefined || from >= end || from + stretch.lines.length <= start) {
        kept.push(stretch);
        continue;
      }
      for (const [index, line] of stretch.lines.entries()) takeOver(line, lines[from + index - start]);
      if (from < start) kept.push({ start: from, lines: stretch.lines.slice(0, start - from) });
      const behind = stretch.lines.slice(Math.max(0, end - from));
      if (behind.length > 0) kept.push({ start: end, lines: behind });
    }
    kept.push({ start, lines });
    this.stretches = joined(kept);
  }
}

/** A line that is shown again keeps what is known of it. */
function takeOver(old: KnownLine, line: KnownLine | undefined): void {
  if (line === undefined || line.text !== old.text) return;
  line.shown += old.shown;
  line.changedAt = old.changedAt;
}

function joined(stretches: readonly Stretch[]): Stretch[] {
  const placed = stretches
    .filter(({ start }) => start !== undefined)
    .toSorted((left, right) => (left.start ?? 0) - (right.start ?? 0));
  const result: Stretch[] = [];
  for (const stretch of placed) {
    const last = result.at(-1);
    if (last?.start !== undefined && last.start + last.lines.length === stretch.start)
      last.lines = last.lines.concat(stretch.lines);
    else result.push({ ...stretch });
  }
  return [...result, ...stretches.filter(({ start }) => start === undefined)];
}

function isNext(before: number | undefined, number: number | undefined): boolean {
  return before === undefined ? number === undefined : number === before + 1;
}

function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** All files of a conversation, by the longest path that is known of each. */
export class KnownFiles {
  private readonly byName = new Map<string, KnownFile[]>();

  /** The file of that path: `planner.go` is the same file as one in a known folder. */
  at(path: string): KnownFile {
    const clean = path.replace(/^\.\//, '');
    const name = clean.slice(clean.lastIndexOf('/') + 1);
    const known = this.byName.get(name) ?? [];
    const same = known.findLast((file) => isSamePath(file.path, clean));
    if (same !== undefined) {
      if (clean.length > same.path.length) same.path = clean;
      return same;
    }
    const file = new KnownFile(clean);
    known.push(file);
    this.byName.set(name, known);
    return file;
  }

  /** The files known under a path: the file itself, or those in the folder. */
  below(path: string): readonly KnownFile[] {
    const clean = path.replace(/^\.\//, '');
    const inFolder = (file: KnownFile) => `/${file.path}`.includes(`/${clean.replace(/^\//, '')}/`);
    return this.all().filter((file) => isSamePath(file.path, clean) || inFolder(file));
  }

  /** Gives a file another path. A path that ends with no name of a file is the folder it is in now. */
  rename(file: KnownFile, to: string): void {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    const isFolder = !to.slice(to.lastIndexOf('/') + 1).includes('.') && name.includes('.');
    const siblings = this.byName.get(name) ?? [];
    this.byName.set(
      name,
      siblings.filter((each) => each !== file),
    );
    const given = isFolder ? `${to}/${name}` : to;
    file.path = given.startsWith('/') ? given : besides(file.path, given);
    const named = file.path.slice(file.path.lastIndexOf('/') + 1);
    this.byName.set(named, [...(this.byName.get(named) ?? []), file]);
  }

  all(): readonly KnownFile[] {
    return [...this.byName.values()].flat();
  }
}

/** A relative path under the folder that a known path shares with it. */
function besides(known: string, to: string): string {
  const [top = ''] = to.split('/', 1);
  const at = `/${known}`.lastIndexOf(`/${top}/`);
  return at <= 0 ? to : `${known.slice(0, at)}${to}`;
}

function isSamePath(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}
