import { applyFocus } from './focus.ts';
import {
  type Entity,
  type FolderUse,
  folderOf,
  type Line,
  type LineIndex,
  type Title,
} from './line-index.ts';
import { type LineListener, scanLine } from './scan-line.ts';
import { type Group, type Material, ORIGIN, type Source } from './sources.ts';

/** A longer line is taken in pieces that can be shown by themselves. */
const LONG_LINE = 240;
const PIECE = 120;
const FAR = 1_000_000;
/** A shorter line is shown whole or not at all. */
const SHORT_LINE = 40;
const NO_SPOTS: readonly number[] = [];
const DECLARES = new Set(
  (
    'func def class const let var type interface struct fn enum export public private static async function trait impl ' +
    'module package abstract pub'
  ).split(' '),
);

/** Reads the material line by line, each distinct line once. Linear in its length. */
export function indexLines(material: Material): LineIndex {
  const indexer = new Indexer();
  for (const [number, source] of material.sources.entries()) {
    if (source.at === undefined) indexer.at = Math.max(indexer.at, material.earlierCharacters);
    indexer.add(source, number);
  }
  indexer.measureEdits(material.sources);
  indexer.measureWarmth();
  const { lines, entities, starts, titles, lastTouched } = indexer;
  const { sources, rounds, demands, habits } = material;
  const lengthCharacters = Math.max(indexer.at, material.earlierCharacters);
  const folders = foldersOf(lastTouched);
  const index = { lines, entities, sources, starts, lengthCharacters, rounds, titles, lastTouched, folders };
  applyFocus(index);
  return { ...index, demands, habits };
}

class Indexer implements LineListener {
  readonly lines: Line[] = [];
  readonly entities: Entity[] = [];
  readonly starts: number[] = [];
  readonly titles = new Map<Group, Title>();
  readonly lastTouched = new Map<Group, number>();
  at = 0;
  /** Ids of the lines of each source that may have been edited; -1 for a blank one. */
  private readonly lineIds: number[][] = [];
  private readonly lineOf = new Map<string, number>();
  private readonly entityOf = new Map<string, number>();
  // Of the line that is being scanned.
  private readonly found: number[] = [];
  private readonly spots: number[] = [];
  private words = 0;

  add(source: Source, number: number): void {
    if (source.at !== undefined) this.at = source.at;
    this.starts.push(this.at);
    if (source.group.title !== '') this.mentionTitle(source, number);
    const ids: number[] = [];
    for (let place = 0; place < source.lines.length; place++) {
      const raw = source.lines[place] ?? '';
      const text = withoutTrailingSpace(raw);
      if (text.length <= LONG_LINE) ids.push(this.mention(text, source, number, place));
      else for (const piece of piecesOf(text)) ids.push(this.mention(piece, source, number, place));
      this.at += raw.length + 1;
    }
    this.lineIds.push(ids);
    if (source.group.kind === 'file') this.lastTouched.set(source.group, this.at);
  }

  entity(text: string, shape: number, start: number): void {
    let id = this.entityOf.get(text);
    if (id === undefined) {
      id = this.entities.length;
      this.entityOf.set(text, id);
      this.entities.push(newEntity(text, shape, this.at));
    }
    if (!this.found.includes(id)) this.found.push(id);
    this.spots.push(id, start, start + text.length);
  }

  word(start: number, end: number): void {
    this.words++;
    this.spots.push(-1, start, end);
  }

  /** How far each line of a changed file stands from what was changed there. */
  measureEdits(sources: readonly Source[]): void {
    for (const [number, { group }] of sources.entries()) {
      const ids = this.lineIds[number];
      if (group.changes === 0 || ids === undefined) continue;
      this.spread(ids, number);
      this.spread(ids.toReversed(), number);
    }
  }

  /** What stands beside something that is still being worked on is more likely to be needed. */
  measureWarmth(): void {
    for (const { entities } of this.lines) {
      const isWarm = entities.some((id) => this.entities[id]?.isKept === true);
      for (const id of entities) {
        const entity = this.entities[id];
        if (entity === undefined) continue;
        entity.distinct++;
        if (isWarm) entity.warm++;
      }
    }
  }

  private spread(ids: readonly number[], source: number): void {
    let distance = FAR;
    for (const id of ids) {
      const line = this.lines[id];
      const isEdited = line !== undefined && (line.writtenAt >= 0 || line.removedAt >= 0);
      distance = isEdited ? 0 : distance + 1;
      if (line?.source === source) line.editDistance = Math.min(line.editDistance, distance);
    }
  }

  /** What the title of a group names counts whenever a call is about it, though it is shown only once. */
  private mentionTitle(source: Source, number: number): void {
    const title = this.titles.get(source.group) ?? this.scanTitle(source.group);
    const isCall = source.origin === ORIGIN.argument || source.origin === ORIGIN.plan;
    if (!isCall && source.at === undefined) return;
    for (const id of title.entities) this.count(id, source, number, title.entities.length - 1);
  }

  private scanTitle(group: Group): Title {
    this.scan(group.status === '' ? group.title : `${group.title} ${group.status}`);
    const title = { entities: this.found.slice(), words: this.words };
    this.titles.set(group, title);
    return title;
  }

  private scan(text: string): void {
    this.found.length = 0;
    this.spots.length = 0;
    this.words = 0;
    scanLine(text, this);
  }

  private mention(text: string, source: Source, number: number, place: number): number {
    if (text === '') return -1;
    const id = this.lineOf.get(text) ?? this.addLine(text, source, number);
    const line = this.lines[id];
    if (line === undefined) return -1;
    this.update(line, source, number, place);
    for (const entity of line.entities) this.count(entity, source, number, line.entities.length - 1);
    return id;
  }

  private addLine(text: string, source: Source, number: number): number {
    this.scan(text);
    const [first] = this.found;
    const indent = text.length - text.trimStart().length;
    const declared = first === undefined ? undefined : this.entities[first];
    if (declared !== undefined && isDeclaration(text, indent)) declared.declared++;
    const id = this.lines.length;
    this.lineOf.set(text, id);
    this.lines.push({
      text,
      indent,
      entities: this.found.slice(),
      words: this.words,
      spots: text.length - indent < SHORT_LINE || first === undefined ? NO_SPOTS : inOrder(this.spots),
      source: number,
      place: 0,
      sourceLines: 0,
      group: source.group,
      origin: source.origin,
      count: 0,
      reads: 0,
      lastAt: this.at,
      removedAt: -1,
      writtenAt: -1,
      editDistance: FAR,
      isKept: false,
      isCarried: false,
    });
    return id;
  }

  private update(line: Line, source: Source, number: number, place: number): void {
    line.count++;
    line.isKept ||= source.isKept;
    line.isCarried ||= source.at !== undefined;
    if (source.origin === ORIGIN.removed) {
      line.removedAt = this.at;
      if (line.count > 1) return;
    }
    if (source.origin === ORIGIN.written) line.writtenAt = this.at;
    if (source.origin === ORIGIN.read) line.reads++;
    line.lastAt = this.at;
    // A line of a file is best shown with the file, even if a command has printed it since.
    if (line.group.kind === 'file' && source.group.kind !== 'file') return;
    line.source = number;
    line.place = place;
    line.sourceLines = source.lines.length;
    line.group = source.group;
    line.origin = source.origin;
  }

  private count(id: number, source: Source, number: number, crowd: number): void {
    const entity = this.entities[id];
    if (entity === undefined) return;
    entity.count++;
    entity.crowd += crowd;
    entity.lastAt = this.at;
    entity.lastRound = source.round;
    entity.origins |= 1 << source.origin;
    entity.isKept ||= source.isKept;
    entity.isCarried ||= source.at !== undefined;
    if (source.group.kind === 'file') entity.file = source.group;
    if (source.isError) entity.failed++;
    if (source.group.changes > 0) entity.inChanged++;
    if (entity.lastSource === number) return;
    entity.lastSource = number;
    entity.sources++;
    if (source.origin === ORIGIN.argument || source.origin === ORIGIN.written) {
      entity.lastUsedAt = this.at;
      entity.used++;
    }
  }
}

function newEntity(text: string, shape: number, at: number): Entity {
  return {
    text,
    shape,
    count: 0,
    sources: 0,
    lastSource: -1,
    firstAt: at,
    lastAt: at,
    lastRound: 0,
    used: 0,
    lastUsedAt: -1,
    origins: 0,
    declared: 0,
    failed: 0,
    inChanged: 0,
    file: undefined,
    crowd: 0,
    distinct: 0,
    warm: 0,
    focus: 0,
    asked: 0,
    isKept: false,
    isCarried: false,
  };
}

const SPACE = 32;

/** The same string where nothing is to be cut off, which most lines are. */
function withoutTrailingSpace(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last <= SPACE || last > 127 ? text.trimEnd() : text;
}

function isDeclaration(text: string, indent: number): boolean {
  const space = text.indexOf(' ', indent);
  return space > indent && DECLARES.has(text.slice(indent, space));
}

/** Spots by where they begin: a path is found before the words inside it. */
function inOrder(spots: readonly number[]): readonly number[] {
  let isSorted = true;
  for (let spot = 3; spot < spots.length && isSorted; spot += 3) {
    isSorted = (spots[spot + 1] ?? 0) >= (spots[spot - 2] ?? 0);
  }
  if (isSorted) return spots.slice();
  const order = Array.from({ length: spots.length / 3 }, (_, number) => number * 3);
  order.sort((left, right) => (spots[left + 1] ?? 0) - (spots[right + 1] ?? 0) || left - right);
  return order.flatMap((spot) => spots.slice(spot, spot + 3));
}

/** A long line in pieces, cut where words end. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + PIECE);
    if (end < text.length) {
      const cut = Math.max(lastIn(text, ' ', start, end), lastIn(text, ',', start, end - 1) + 1);
      if (cut > start + PIECE / 2) end = cut;
    }
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** Where a character last stands in a stretch of a text; -1 for nowhere. Never looks further back. */
function lastIn(text: string, character: string, start: number, end: number): number {
  const found = text.slice(start, end + 1).lastIndexOf(character);
  return found === -1 ? -1 : start + found;
}

function foldersOf(lastTouched: ReadonlyMap<Group, number>): ReadonlyMap<string, FolderUse> {
  const folders = new Map<string, FolderUse>();
  for (const [{ title }, at] of lastTouched) {
    const name = folderOf(title);
    const known = folders.get(name);
    folders.set(name, { files: (known?.files ?? 0) + 1, lastAt: Math.max(known?.lastAt ?? 0, at) });
  }
  return folders;
}
