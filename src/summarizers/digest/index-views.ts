import { ENTITY, FLAG, LINE, type LineIndex } from './line-index.ts';
import type { Records } from './records.ts';
import type { Group } from './sources.ts';

type Read = Pick<LineIndex, 'lines' | 'entities' | 'groups'>;

/** One entity of an index, as an object. Moves to another one when its `id` is set. */
export class Entity {
  id: number;
  private readonly index: Read;
  private readonly records: Records;

  constructor(index: Read, id: number) {
    this.index = index;
    this.records = index.entities.records;
    this.id = id;
  }

  get text(): string {
    return this.index.entities.texts[this.id] ?? '';
  }
  get shape(): number {
    return this.index.entities.shapes[this.id] ?? 0;
  }
  get count(): number {
    return this.field(ENTITY.count);
  }
  get sources(): number {
    return this.field(ENTITY.sources);
  }
  get firstAt(): number {
    return this.field(ENTITY.firstAt);
  }
  get lastAt(): number {
    return this.field(ENTITY.lastAt);
  }
  get lastRound(): number {
    return this.field(ENTITY.lastRound);
  }
  get used(): number {
    return this.field(ENTITY.used);
  }
  get lastUsedAt(): number {
    return this.field(ENTITY.lastUsedAt);
  }
  get origins(): number {
    return this.field(ENTITY.origins);
  }
  get declared(): number {
    return this.field(ENTITY.declared);
  }
  get failed(): number {
    return this.field(ENTITY.failed);
  }
  get inChanged(): number {
    return this.field(ENTITY.inChanged);
  }
  get file(): Group | undefined {
    return this.index.groups[this.field(ENTITY.file)];
  }
  get crowd(): number {
    return this.field(ENTITY.crowd);
  }
  get distinct(): number {
    return this.field(ENTITY.distinct);
  }
  get warm(): number {
    return this.index.entities.warm[this.id] ?? 0;
  }
  get focus(): number {
    return this.index.entities.focus[this.id] ?? 0;
  }
  get asked(): number {
    return this.index.entities.asked[this.id] ?? 0;
  }
  get isKept(): boolean {
    return (this.field(ENTITY.flags) & FLAG.kept) !== 0;
  }

  private field(field: number): number {
    return this.records.get(this.id, field);
  }
}

/** One line of an index, as an object. Moves to another one when its `id` is set. */
export class Line {
  id: number;
  private readonly index: Read;
  private readonly records: Records;
  /** The group that bins were found for last, and these: most lines that follow each other are of one group. */
  binnedGroup = -1;
  readonly groupBins: Uint16Array = new Uint16Array(3);

  constructor(index: Read, id: number) {
    this.index = index;
    this.records = index.lines.records;
    this.id = id;
  }

  get text(): string {
    return this.index.lines.texts[this.id] ?? '';
  }
  get indent(): number {
    return this.field(LINE.indent);
  }
  /** How many things it names. */
  get names(): number {
    return this.index.lines.namesEnd(this.id) - this.field(LINE.names);
  }
  get source(): number {
    return this.field(LINE.source);
  }
  get sourceLines(): number {
    return this.field(LINE.sourceLines);
  }
  get groupNumber(): number {
    return this.field(LINE.group);
  }
  get group(): Group | undefined {
    return this.index.groups[this.groupNumber];
  }
  get origin(): number {
    return this.field(LINE.origin);
  }
  get count(): number {
    return this.field(LINE.count);
  }
  get reads(): number {
    return this.field(LINE.reads);
  }
  get lastAt(): number {
    return this.field(LINE.lastAt);
  }
  get removedAt(): number {
    return this.field(LINE.removedAt);
  }
  get writtenAt(): number {
    return this.field(LINE.writtenAt);
  }
  get editDistance(): number {
    return this.field(LINE.editDistance);
  }
  get isKept(): boolean {
    return (this.field(LINE.flags) & FLAG.kept) !== 0;
  }

  private field(field: number): number {
    return this.records.get(this.id, field);
  }
}

/** Every entity of an index. */
export function entitiesOf(index: Read): readonly Entity[] {
  return index.entities.texts.map((_, id) => new Entity(index, id));
}

/** Every line of an index. */
export function linesOf(index: Read): readonly Line[] {
  return index.lines.texts.map((_, id) => new Line(index, id));
}
