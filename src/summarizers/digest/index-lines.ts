import { LOWER } from './characters.ts';
import { applyFocus } from './focus.ts';
import { costOfRead } from './line-cost.ts';
import {
  ENTITY,
  EntityStore,
  FLAG,
  type FolderUse,
  folderOf,
  LINE,
  type LineIndex,
  LineStore,
  type Title,
} from './line-index.ts';
import { indentOf, piecesOf, withoutTrailingSpace } from './line-text.ts';
import { kinds, units } from './line-units.ts';
import { NameTable } from './name-table.ts';
import { NumberList } from './records.ts';
import { type LineListener, scanLine } from './scan-line.ts';
import { type Group, type Material, ORIGIN, type Source } from './sources.ts';
import { markRepeated, sortSpots } from './spots.ts';

/** A longer line is taken in pieces that can be shown by themselves. */
const LONG_LINE = 240;
const FAR = 1_000_000;
const SPACE = 32;
/** A shorter line is shown whole or not at all. */
const SHORT_LINE = 40;
const LONGEST_DECLARER = 9;
const DECLARES = new Set(
  (
    'func def class const let var type interface struct fn enum export public private static async function trait impl ' +
    'module package abstract pub'
  ).split(' '),
);

/** Kept so that the code that was compiled for indexers survives a garbage collection between two digests. */
const resting: { indexer?: Indexer } = {};

/** Reads the material line by line, each distinct line once. Linear in its length. */
export function indexLines(material: Material): LineIndex {
  const indexer = new Indexer();
  resting.indexer ??= new Indexer();
  for (const source of material.sources) {
    if (source.at === undefined) indexer.at = Math.max(indexer.at, material.earlierCharacters);
    indexer.add(source);
  }
  indexer.measureEdits(material.sources);
  indexer.measureWarmth();
  const { lines, entities, starts, groups, titles, lastTouched } = indexer;
  const { sources, rounds, demands, habits } = material;
  const lengthCharacters = Math.max(indexer.at, material.earlierCharacters);
  const folders = foldersOf(lastTouched);
  applyFocus({ entities, sources, starts, lengthCharacters });
  return {
    lines,
    entities,
    sources,
    starts,
    lengthCharacters,
    rounds,
    groups,
    titles,
    lastTouched,
    folders,
    demands,
    habits,
  };
}

class Indexer implements LineListener {
  readonly lines = new LineStore();
  readonly entities = new EntityStore();
  readonly starts: number[] = [];
  readonly groups: Group[] = [];
  readonly titles: (Title | undefined)[] = [];
  readonly lastTouched = new Map<Group, number>();
  at = 0;
  private readonly groupIds = new Map<Group, number>();
  /** Ids of the lines of all sources, -1 for a blank one, and where those of each source begin. */
  private readonly mentions = new NumberList();
  private readonly mentionStarts: number[] = [];
  private readonly lineOf = new Map<string, number>();
  /** The line that last stood behind each line, and the line before the present one. */
  private readonly followers = new NumberList();
  private previous = 0;
  private readonly nameTable = new NameTable();
  // Of the source that is being read.
  private source = -1;
  private group = -1;
  private origin = 0;
  private round = 0;
  private sourceLines = 0;
  private flags = 0;
  private isError = false;
  private isChanged = false;
  private isUse = false;
  // Of the line that is being scanned.
  private text = '';
  private firstName = 0;
  private words = 0;
  private hasSpots = false;

  add(source: Source): void {
    this.open(source);
    const { title } = source.group;
    if (title !== '') this.mentionTitle(source);
    this.mentionStarts.push(this.mentions.length);
    this.addLines(source.lines);
    if (source.group.kind === 'file') this.lastTouched.set(source.group, this.at);
  }

  entity(start: number, end: number, shape: number): void {
    const id = this.nameTable.numberOf(units, start, end);
    if (id === this.entities.texts.length) this.addEntity(this.text.slice(start, end), shape);
    const { names } = this.lines;
    let isNew = true;
    for (let index = this.firstName; index < names.length && isNew; index++) isNew = names.get(index) !== id;
    if (isNew) names.push(id);
    if (this.hasSpots) this.addSpot(id, start, end);
  }

  word(start: number, end: number): void {
    this.words++;
    if (this.hasSpots) this.addSpot(-1, start, end);
  }

  /** How far each line of a changed file stands from what was changed there. */
  measureEdits(sources: readonly Source[]): void {
    for (const [number, { group }] of sources.entries()) {
      if (group.changes === 0) continue;
      const start = this.mentionStarts[number] ?? 0;
      const end = this.mentionStarts[number + 1] ?? this.mentions.length;
      this.spread(number, start, end, 1);
      this.spread(number, end - 1, start - 1, -1);
    }
  }

  /** What stands beside something that is still being worked on is more likely to be needed. */
  measureWarmth(): void {
    const { names, records } = this.lines;
    const { records: entities } = this.entities;
    const warm = new Int32Array(entities.length);
    for (let line = 0; line < records.length; line++) {
      const start = records.get(line, LINE.names);
      const end = this.lines.namesEnd(line);
      let isWarm = false;
      for (let index = start; index < end && !isWarm; index++) {
        isWarm = (entities.get(names.get(index), ENTITY.flags) & FLAG.kept) !== 0;
      }
      if (!isWarm) continue;
      for (let index = start; index < end; index++) {
        const name = names.get(index);
        warm[name] = (warm[name] ?? 0) + 1;
      }
    }
    this.entities.warm = warm;
  }

  private spread(source: number, start: number, end: number, step: number): void {
    const { records } = this.lines;
    let distance = FAR;
    for (let index = start; index !== end; index += step) {
      const id = this.mentions.get(index);
      const isEdited =
        id !== -1 && (records.get(id, LINE.writtenAt) >= 0 || records.get(id, LINE.removedAt) >= 0);
      distance = isEdited ? 0 : distance + 1;
      if (id === -1 || records.get(id, LINE.source) !== source) continue;
      if (distance < records.get(id, LINE.editDistance)) records.set(id, LINE.editDistance, distance);
    }
  }

  private open({ at, group, origin, round, lines, isKept, isError }: Source): void {
    if (at !== undefined) this.at = at;
    this.source++;
    this.starts.push(this.at);
    let number = this.groupIds.get(group);
    if (number === undefined) {
      number = this.groups.push(group) - 1;
      this.groupIds.set(group, number);
      this.titles.push(undefined);
    }
    this.group = number;
    this.origin = origin;
    this.round = round;
    this.sourceLines = lines.length;
    this.flags =
      (isKept ? FLAG.kept : 0) |
      (at === undefined ? 0 : FLAG.carried) |
      (group.kind === 'file' ? FLAG.file : 0);
    this.isError = isError;
    this.isChanged = group.changes > 0;
    this.isUse = origin === ORIGIN.argument || origin === ORIGIN.written;
  }

  private addLines(lines: readonly string[]): void {
    for (let place = 0; place < lines.length; place++) {
      const raw = lines[place] ?? '';
      const text = withoutTrailingSpace(raw);
      if (text.length <= LONG_LINE) this.mention(text, place);
      else for (const piece of piecesOf(text)) this.mention(piece, place);
      this.at += raw.length + 1;
    }
  }

  /** What the title of a group names counts whenever a call is about it, though it is shown only once. */
  private mentionTitle({ group, origin, at }: Source): void {
    const title = this.titles[this.group] ?? this.scanTitle(group);
    const isCall = origin === ORIGIN.argument || origin === ORIGIN.plan;
    if (!isCall && at === undefined) return;
    for (const id of title.entities) this.count(id, title.entities.length - 1);
  }

  private scanTitle(group: Group): Title {
    const { names } = this.lines;
    this.hasSpots = false;
    this.scan(group.status === '' ? group.title : `${group.title} ${group.status}`);
    const entities: number[] = [];
    for (let index = this.firstName; index < names.length; index++) entities.push(names.get(index));
    names.length = this.firstName;
    const title = { entities, words: this.words };
    this.titles[this.group] = title;
    return title;
  }

  private scan(text: string): void {
    this.firstName = this.lines.names.length;
    this.words = 0;
    this.text = text;
    scanLine(text, this);
  }

  private mention(text: string, place: number): void {
    if (text === '') {
      this.mentions.push(-1);
      return;
    }
    const id = this.idOf(text);
    this.previous = id;
    this.mentions.push(id);
    this.update(id, place);
    const { names, records } = this.lines;
    const start = records.get(id, LINE.names);
    const end = this.lines.namesEnd(id);
    for (let index = start; index < end; index++) this.count(names.get(index), end - start - 1);
  }

  /** What is read again comes in the same order, so that most lines need not be looked up. */
  private idOf(text: string): number {
    const { followers, previous } = this;
    const guess = followers.get(previous);
    if (this.lines.texts[guess] === text) return guess;
    const id = this.lineOf.get(text) ?? this.addLine(text);
    followers.set(previous, id);
    return id;
  }

  private addLine(text: string): number {
    const { lines } = this;
    const { records, names, spots } = lines;
    const firstSpot = spots.length;
    const indent = indentOf(text);
    this.hasSpots = text.length - indent >= SHORT_LINE;
    this.scan(text);
    const { firstName } = this;
    const hasNames = names.length > firstName;
    if (hasNames) {
      sortSpots(spots, firstSpot);
      markRepeated(spots, firstSpot);
    }
    if (!hasNames) spots.length = firstSpot;
    const { records: entities } = this.entities;
    if (hasNames && isDeclaration(text, indent)) entities.add(names.get(firstName), ENTITY.declared, 1);
    for (let index = firstName; index < names.length; index++) {
      entities.add(names.get(index), ENTITY.distinct, 1);
    }
    const id = records.push();
    this.lineOf.set(text, id);
    lines.texts.push(text);
    this.followers.push(0);
    lines.costs.push(costOfRead(text.length));
    records.set(id, LINE.group, this.group);
    records.set(id, LINE.lastAt, this.at);
    records.set(id, LINE.source, this.source);
    records.set(id, LINE.origin, this.origin);
    records.set(id, LINE.removedAt, -1);
    records.set(id, LINE.writtenAt, -1);
    records.set(id, LINE.editDistance, FAR);
    records.set(id, LINE.flags, this.flags);
    records.set(id, LINE.indent, indent);
    records.set(id, LINE.words, this.words);
    records.set(id, LINE.names, firstName);
    records.set(id, LINE.spots, firstSpot);
    return id;
  }

  private addSpot(id: number, start: number, end: number): void {
    const { spots } = this.lines;
    spots.push(id);
    spots.push(start);
    spots.push(end);
  }

  private addEntity(text: string, shape: number): void {
    const { texts, shapes, records } = this.entities;
    const id = records.push();
    texts.push(text);
    shapes.push(shape);
    records.set(id, ENTITY.firstAt, this.at);
    records.set(id, ENTITY.lastSource, -1);
    records.set(id, ENTITY.lastUsedAt, -1);
    records.set(id, ENTITY.file, -1);
  }

  private update(id: number, place: number): void {
    const { records } = this.lines;
    const { at, origin, flags } = this;
    const count = records.get(id, LINE.count) + 1;
    const isOfFile = (records.get(id, LINE.flags) & FLAG.file) !== 0;
    records.set(id, LINE.count, count);
    records.mark(id, LINE.flags, flags & ~FLAG.file);
    if (origin === ORIGIN.removed) {
      records.set(id, LINE.removedAt, at);
      if (count > 1) return;
    }
    if (origin === ORIGIN.written) records.set(id, LINE.writtenAt, at);
    if (origin === ORIGIN.read) records.add(id, LINE.reads, 1);
    records.set(id, LINE.lastAt, at);
    // A line of a file is best shown with the file, even if a command has printed it since.
    if (isOfFile && (flags & FLAG.file) === 0) return;
    records.set(id, LINE.source, this.source);
    records.set(id, LINE.place, place);
    records.set(id, LINE.sourceLines, this.sourceLines);
    records.set(id, LINE.group, this.group);
    records.set(id, LINE.origin, origin);
    records.mark(id, LINE.flags, flags);
  }

  private count(id: number, crowd: number): void {
    const { records } = this.entities;
    const { at, source, flags } = this;
    records.add(id, ENTITY.count, 1);
    records.add(id, ENTITY.crowd, crowd);
    records.set(id, ENTITY.lastAt, at);
    records.set(id, ENTITY.lastRound, this.round);
    records.mark(id, ENTITY.origins, 1 << this.origin);
    records.mark(id, ENTITY.flags, flags);
    if ((flags & FLAG.file) !== 0) records.set(id, ENTITY.file, this.group);
    if (this.isError) records.add(id, ENTITY.failed, 1);
    if (this.isChanged) records.add(id, ENTITY.inChanged, 1);
    if (records.get(id, ENTITY.lastSource) === source) return;
    records.set(id, ENTITY.lastSource, source);
    records.add(id, ENTITY.sources, 1);
    if (!this.isUse) return;
    records.set(id, ENTITY.lastUsedAt, at);
    records.add(id, ENTITY.used, 1);
  }
}

/** Whether the line that was read last begins like a declaration. */
function isDeclaration(text: string, indent: number): boolean {
  let end = indent;
  while (kinds[end] === LOWER) end++;
  return units[end] === SPACE && end - indent <= LONGEST_DECLARER && DECLARES.has(text.slice(indent, end));
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
