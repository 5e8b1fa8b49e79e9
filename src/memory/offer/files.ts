/** Offers the current lines of files, as pieces of the working set. */

import type { KnownFile, KnownLine } from '../files.ts';
import { type NameWorth, namesIn } from '../names.ts';
import type { State } from '../state.ts';
import { SEEN_BEFORE } from '../tell.ts';
import { isDecisive, isProse } from '../telling.ts';
import { LINE_WORTH } from '../weights.ts';
import type { Piece, Unit } from './piece.ts';

/** Lines that are shown together: about a screenful of a function. */
const LONGEST_CHUNK = 14;
const SHORTEST_CHUNK = 4;
const LONGEST_LINE = 400;
const SHORTEST_KEY = 20;
/** Lines that may be others by now have this share of their worth. */
const MOVED_SHARE = 0.5;
const LONGEST_KEY = 160;
/** Of very long conversations only the newest files are offered, up to so many characters. */
const MOST_CHARACTERS = 1_500_000;

export interface FileOfferContext {
  /** Number of events. */
  readonly total: number;
  /** What all of this is worth beside the story, from 0 to 1. */
  readonly scale: number;
  /** Whether single lines may stand for what has no room. */
  readonly hasOutline: boolean;
  readonly names: NameWorth;
  /** Whether the file is shown by messages that stay. */
  readonly isKept: (line: KnownLine) => boolean;
  readonly shorten: (path: string) => string;
  readonly moved: State['moved'];
}

/** Offers the current lines of files, in stretches of whole lines. */
export function offerFiles(files: readonly KnownFile[], context: FileOfferContext): readonly Piece[] {
  const newest = files.toSorted((left, right) => lastTouch(right) - lastTouch(left));
  const pieces: Piece[] = [];
  let characters = 0;
  for (const file of newest) {
    if (characters > MOST_CHARACTERS) break;
    const units = offerFile(file, context);
    for (const { text, within } of units) characters += within === undefined ? text.length : 0;
    if (units.length > 0)
      pieces.push({ part: 'files', place: lastTouch(file), head: headOf(file, context), units, turn: 0 });
  }
  return pieces;
}

function offerFile(file: KnownFile, context: FileOfferContext): readonly Unit[] {
  const units: Unit[] = [];
  const scale = context.scale * (isMoved(file, context) ? MOVED_SHARE : 1);
  for (const { start, lines } of file.stretches) {
    const terms = { file, stretch: lines.length, context };
    const read = lines.map((line, index) =>
      readLine(line, start === undefined ? undefined : start + index, terms),
    );
    for (const chunk of chunksOf(read)) {
      const shown = chunk.filter(({ isKept }) => !isKept);
      const unit = unitOf(shown, scale, context.hasOutline);
      if (unit === undefined) continue;
      units.push(unit, ...(context.hasOutline ? keyLines(shown, units.length) : []));
    }
  }
  return units;
}

function lastTouch({ changedAt, lookedAt }: KnownFile): number {
  return Math.max(changedAt, lookedAt);
}

/** Whether other versions of files came into the working tree since this one was seen. */
function isMoved(file: KnownFile, { moved }: FileOfferContext): boolean {
  return moved !== undefined && lastTouch(file) < moved.at;
}

function headOf(file: KnownFile, context: FileOfferContext): string {
  const { path, changes, isNew } = file;
  const note =
    changes === 0
      ? ''
      : isNew
        ? ` (created here${changes > 1 ? `, changed ${changes - 1}x` : ''})`
        : ` (changed ${changes}x)`;
  const seen = isMoved(file, context) ? `${SEEN_BEFORE}${context.moved?.by}]` : '';
  return `${context.shorten(path)}${note}${seen}`;
}

/** A line with what is known of its worth. */
interface ReadLine {
  readonly text: string;
  readonly number: number | undefined;
  readonly isKept: boolean;
  readonly names: ReadonlySet<string>;
  readonly worth: number;
  /** What it is worth as something that is said; 0 for code. */
  readonly told: number;
  readonly isIdle: boolean;
}

interface LineTerms {
  readonly file: KnownFile;
  /** Lines of the stretch. */
  readonly stretch: number;
  readonly context: FileOfferContext;
}

const IDLE =
  /^\s*(?:[\])}{(;,]+|import\b.*|from\b.*import\b.*|#include\b.*|use\b.*;|package\b.*|(?:\/\/|#|\*).*|else\s*\{?|try\s*\{|return;?|end)\s*$/;
const NO_NAMES: ReadonlySet<string> = new Set();

function readLine(line: KnownLine, number: number | undefined, terms: LineTerms): ReadLine {
  const text = clip(line.text);
  const told = isProse(text) ? (isDecisive(text) ? LINE_WORTH.rule : LINE_WORTH.prose) : 0;
  const isIdle = told === 0 && (text.length < SHORTEST_KEY || IDLE.test(text));
  const names = text.trim() === '' ? NO_NAMES : namesIn(text);
  const worth = isIdle
    ? LINE_WORTH.idle
    : editWorth(line, terms) + told * fading(line, terms, LINE_WORTH.proseFading);
  return { text, number, isKept: terms.context.isKept(line), names, worth, told, isIdle };
}

/** How likely it is to be edited next. */
function editWorth({ changedAt, ...line }: KnownLine, terms: LineTerms): number {
  const { file, stretch } = terms;
  let worth = LINE_WORTH.base * fading(line, terms, LINE_WORTH.fading) * stretch ** -LINE_WORTH.longStretch;
  if (file.changes > 0) worth *= LINE_WORTH.changedFile * file.changes ** LINE_WORTH.often;
  if (changedAt >= 0) worth *= LINE_WORTH.changed;
  return worth;
}

function fading({ at }: Pick<KnownLine, 'at'>, { context }: LineTerms, power: number): number {
  return (1 + context.total - at) ** -power;
}

/** Parts lines where a blank one or a change of level allows it. */
function chunksOf(lines: readonly ReadLine[]): readonly (readonly ReadLine[])[] {
  const chunks: (readonly ReadLine[])[] = [];
  let from = 0;
  for (let index = 0; index < lines.length; index++) {
    const length = index + 1 - from;
    const isBreak =
      length >= SHORTEST_CHUNK &&
      (lines[index]?.text.trim() === '' || /^\S/.test(lines[index + 1]?.text ?? ' '));
    if (index + 1 < lines.length && length < LONGEST_CHUNK && !isBreak) continue;
    chunks.push(lines.slice(from, index + 1));
    from = index + 1;
  }
  return chunks;
}

function unitOf(lines: readonly ReadLine[], scale: number, hasOutline: boolean): Unit | undefined {
  const first = lines.findIndex(({ text }) => text.trim() !== '');
  const last = lines.findLastIndex(({ text }) => text.trim() !== '');
  if (first === -1) return undefined;
  const shown = lines.slice(first, last + 1);
  let worth = 0;
  let weight = 0;
  for (const line of shown) {
    const length = line.text.length + 4;
    worth += length * line.worth;
    weight += length;
  }
  // What a file imports can be read in it at any time: in a small memory it is no reason to show it.
  const telling = hasOutline ? shown : shown.filter(({ isIdle }) => !isIdle);
  const names = new Set(telling.flatMap((line) => [...line.names]));
  return {
    text: shown.map(({ text }) => text).join('\n'),
    worth: (scale * worth) / weight,
    startsLine: true,
    names,
  };
}

/** Single lines of a stretch that can stand for it where there is no room for all: an outline. */
function keyLines(lines: readonly ReadLine[], within: number): readonly Unit[] {
  if (lines.length === 1) return [];
  return lines.flatMap(({ text, number, isIdle, names, told }): readonly Unit[] => {
    const line = text.trim();
    if (isIdle || line.length > LONGEST_KEY || (names.size === 0 && told === 0)) return [];
    return [
      {
        text: `${number === undefined ? '' : `${number}: `}${line}`,
        worth: told,
        startsLine: true,
        within,
        names,
      },
    ];
  });
}

function clip(text: string): string {
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE - 1)}…` : text;
}
