import { classes, LOWER } from './characters.ts';
import { applyFocus } from './focus.ts';
import { ENTITY, EntityStore, FLAG, LINE, type LineIndex, LineStore, type Title } from './line-index.ts';
import { LineReader } from './line-reader.ts';
import { contentEnd, indentOf, PIECE, pieceEnd } from './line-text.ts';
import { LINE_END, MOST_UNITS, readUnits, units } from './line-units.ts';
import { FAR, measureEdits, measureFolders, measureWarmth } from './measure-index.ts';
import { hashOf, hashOfRead, NameTable, nameTableOf } from './name-table.ts';
import { NumberList } from './records.ts';
import { type LineListener, scanUnits } from './scan-line.ts';
import { type Group, type Material, ORIGIN, type Source } from './sources.ts';
import { markRepeated, sortSpots } from './spots.ts';

/** A longer line is taken in pieces that can be shown by themselves. */
const LONG_LINE = 240;
const SPACE = 32;
/** A shorter line is shown whole or not at all. */
const SHORT_LINE = 40;
const LONGEST_DECLARER = 9;
const declares = nameTableOf(
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
  indexer.close();
  const { lines, entities, starts, groups, titles, lastTouched, nameTable } = indexer;
  const { sources, covered, rounds, demands, habits } = material;
  measureEdits(lines, indexer.mentions, sources);
  measureWarmth(lines, entities);
  const lengthCharacters = Math.max(indexer.at, material.earlierCharacters);
  applyFocus({ entities, sources, starts, lengthCharacters }, nameTable);
  return {
    lines,
    entities,
    sources,
    starts,
    lengthCharacters,
    covered,
    rounds,
    groups,
    titles,
    lastTouched,
    folders: measureFolders(lastTouched),
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
  readonly nameTable = new NameTable();
  readonly mentions = { ids: new NumberList(), starts: [] as number[] };
  at = 0;
  private readonly groupIds = new Map<Group, number>();
  private readonly lineTable = new NameTable();
  private readonly reader = new LineReader();
  /** The line that last stood behind each line, and the line before the present one. */
  private readonly followers = new NumberList();
  private previous = 0;
  /** How many lines each source has. */
  private readonly lineCounts = new NumberList();
  // Of the source that is being read.
  private source = -1;
  private group = -1;
  private origin = 0;
  private round = 0;
  private flags = 0;
  private isError = false;
  private isChanged = false;
  private isUse = false;
  // Of the line that is being scanned: its text, where `units` begin in that, where it begins in `units`.
  private text = '';
  private offset = 0;
  private lineStart = 0;
  private firstName = 0;
  private words = 0;
  private hasSpots = false;
  /** Where the newest spot begins; whether spots are out of order, and whether a name came twice. */
  private lastSpot = 0;
  private isUnsorted = false;
  private hasRepeated = false;

  add(source: Source): void {
    this.open(source);
    const { group, text } = source;
    if (group.title !== '') this.mentionTitle(source);
    this.mentions.starts.push(this.mentions.ids.length);
    if (text === undefined) this.addLines(source.lines);
    else this.addText(text, source.isNumbered === true);
    if (group.kind === 'file') this.lastTouched.set(group, this.at);
  }

  /** Notes of each line how many lines its source has, which is known in the end. */
  close(): void {
    const { records } = this.lines;
    for (let id = 0; id < records.length; id++) {
      records.set(id, LINE.sourceLines, this.lineCounts.get(records.get(id, LINE.source)));
    }
  }

  entity(start: number, end: number, shape: number, hash: number): void {
    const id = this.nameTable.numberOf(start, end, hash);
    if (id === this.entities.texts.length) {
      this.addEntity(this.text.slice(this.offset + start, this.offset + end), shape);
    }
    const { names } = this.lines;
    let isNew = true;
    for (let index = this.firstName; index < names.length && isNew; index++) isNew = names.get(index) !== id;
    if (isNew) names.push(id);
    else this.hasRepeated = true;
    if (this.hasSpots) this.addSpot(id, start, end);
  }

  word(start: number, end: number): void {
    this.words++;
    if (this.hasSpots) this.addSpot(-1, start, end);
  }

  private open({ at, group, origin, round, isKept, isError }: Source): void {
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
      const line = lines[place] ?? '';
      if (line.length > MOST_UNITS) this.mentionLong(line.trimEnd(), place);
      else {
        this.readText(line, 0);
        this.mentionLine(0, contentEnd(0, readUnits(line)), place);
      }
      this.at += line.length + 1;
    }
    this.lineCounts.push(lines.length);
  }

  private addText(text: string, isNumbered: boolean): void {
    const { reader } = this;
    reader.open(text, isNumbered);
    let place = 0;
    for (; reader.advance(); place++) {
      const { start, end, length } = reader;
      if (reader.isApart) this.mentionLong(text.slice(start, end), place);
      else {
        this.readText(text, reader.offset);
        this.mentionLine(start, end, place);
      }
      this.at += length + 1;
    }
    this.lineCounts.push(place);
  }

  private readText(text: string, offset: number): void {
    this.text = text;
    this.offset = offset;
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
    this.readText(group.status === '' ? group.title : `${group.title} ${group.status}`, 0);
    this.scan(0, readUnits(this.text));
    const entities: number[] = [];
    for (let index = this.firstName; index < names.length; index++) entities.push(names.get(index));
    names.length = this.firstName;
    const title = { entities, words: this.words };
    this.titles[this.group] = title;
    return title;
  }

  /** Scans a line, and gives about how many tokens it takes. */
  private scan(start: number, end: number): number {
    this.firstName = this.lines.names.length;
    this.words = 0;
    this.lineStart = start;
    this.lastSpot = 0;
    this.isUnsorted = false;
    this.hasRepeated = false;
    // Where a line is cut into pieces, anything may stand behind one.
    const behind = units[end] ?? 0;
    units[end] = LINE_END;
    const cost = scanUnits(start, end, this);
    units[end] = behind;
    return cost;
  }

  /** A line that is too long for `units`, as many pieces at a time as there is room for. */
  private mentionLong(line: string, place: number): void {
    for (let at = 0; at < line.length; ) {
      const read = readUnits(line.slice(at, at + MOST_UNITS));
      const isRest = at + read === line.length;
      this.readText(line, at);
      let start = 0;
      while (start < read && (isRest || start + PIECE < read)) {
        const end = pieceEnd(start, read);
        this.mention(start, end, place);
        start = end;
      }
      at += start;
    }
  }

  private mentionLine(start: number, end: number, place: number): void {
    if (start === end) this.mentions.ids.push(-1);
    else if (end - start <= LONG_LINE) this.mention(start, end, place);
    else {
      for (let from = start; from < end; ) {
        const to = pieceEnd(from, end);
        this.mention(from, to, place);
        from = to;
      }
    }
  }

  private mention(start: number, end: number, place: number): void {
    const id = this.idOf(start, end);
    this.previous = id;
    this.mentions.ids.push(id);
    this.update(id, place);
    const { names, records } = this.lines;
    const first = records.get(id, LINE.names);
    const last = this.lines.namesEnd(id);
    for (let index = first; index < last; index++) this.count(names.get(index), last - first - 1);
  }

  /** What is read again comes in the same order, so that most lines need not be looked up. */
  private idOf(start: number, end: number): number {
    const { followers, previous, lineTable } = this;
    const guess = followers.get(previous);
    if (lineTable.isSame(guess, start, end)) return guess;
    const hash = hashOfRead(start, end);
    const known = lineTable.find(start, end, hash);
    const id = known === -1 ? this.addLine(start, end, hash) : known;
    followers.set(previous, id);
    return id;
  }

  private addLine(start: number, end: number, hash: number): number {
    const { lines } = this;
    const { records, names, spots } = lines;
    const firstSpot = spots.length;
    const indent = indentOf(start, end);
    this.hasSpots = end - start - indent >= SHORT_LINE;
    const cost = this.scan(start, end);
    const { firstName } = this;
    if (names.length === firstName) spots.length = firstSpot;
    else this.noteNames(firstSpot, start + indent);
    const id = records.push();
    this.lineTable.add(start, end, hash);
    lines.texts.push(this.text.slice(this.offset + start, this.offset + end));
    this.followers.push(0);
    lines.costs.push(cost);
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

  /** Takes note of the names of the line that was scanned last. */
  private noteNames(firstSpot: number, contentStart: number): void {
    const { names, spots } = this.lines;
    const { records } = this.entities;
    if (this.isUnsorted) sortSpots(spots, firstSpot);
    if (this.hasRepeated) markRepeated(spots, firstSpot);
    if (isDeclaration(contentStart)) records.add(names.get(this.firstName), ENTITY.declared, 1);
    for (let index = this.firstName; index < names.length; index++) {
      records.add(names.get(index), ENTITY.distinct, 1);
    }
  }

  private addSpot(id: number, start: number, end: number): void {
    this.lines.spots.pushThree(id, start - this.lineStart, end - this.lineStart);
    if (start < this.lastSpot) this.isUnsorted = true;
    this.lastSpot = start;
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

/** Whether a line of `units` begins like a declaration. */
function isDeclaration(start: number): boolean {
  let end = start;
  while (classes[units[end] ?? 0] === LOWER) end++;
  if (units[end] !== SPACE || end - start > LONGEST_DECLARER) return false;
  return declares.find(start, end, hashOf(start, end)) !== -1;
}
