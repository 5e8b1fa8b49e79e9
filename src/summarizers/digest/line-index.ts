import { NumberList, Records } from './records.ts';
import type { Coverage, Group, Source } from './sources.ts';

/**
 * Shown by a message that stays; told by an earlier digest, which chose it once already; a line of a file; a name that a
 * message that stays binds.
 */
export const FLAG = { kept: 1, carried: 2, file: 4, bound: 8 } as const;

/** So many plain words beside a name bind it: they say what it was. */
export const BINDING_WORDS = 2;

/** Fields of an entity. Places count characters from the beginning of the material. */
export const ENTITY = {
  /** Lines that show it, repeated ones included. */
  count: 0,
  /** Sources that show it. */
  sources: 1,
  lastSource: 2,
  firstAt: 3,
  lastAt: 4,
  lastRound: 5,
  /** How often the model handed it to a tool, and where last; -1 for nowhere. */
  used: 6,
  lastUsedAt: 7,
  /** A bit for each origin that shows it. */
  origins: 8,
  /** Lines that declare it, lines of failures, and lines of changed files. */
  declared: 9,
  failed: 10,
  inChanged: 11,
  /** The file that showed it last; -1 for none. */
  file: 12,
  /** How many other names stood on its lines, in all. */
  crowd: 13,
  flags: 14,
  /** Distinct lines that show it. */
  distinct: 15,
} as const;

/** Fields of a line. */
export const LINE = {
  /** Where it is shown: its newest source, its number there, and how many lines the source has. */
  source: 0,
  place: 1,
  sourceLines: 2,
  group: 3,
  origin: 4,
  /** How often it occurs, and how often a tool read it. */
  count: 5,
  reads: 6,
  lastAt: 7,
  /** Where an edit last took it out of a file or put it in; -1 for nowhere. */
  removedAt: 8,
  writtenAt: 9,
  /** Lines between it and the nearest line that an edit touched, in its source. */
  editDistance: 10,
  flags: 11,
  /** Where it begins after its indentation. */
  indent: 12,
  /** Plain words on it. */
  words: 13,
  /** Where its names and its spots begin in their lists; they end where those of the next line begin. */
  names: 14,
  spots: 15,
} as const;

/** In the spots of a line, a name that an earlier spot of it has already is this less its id. */
export const AGAIN = -2;

/** Everything that the material names. */
export class EntityStore {
  readonly texts: string[] = [];
  readonly shapes: number[] = [];
  readonly records: Records = new Records();
  /** Distinct lines that also name something of the messages that stay. */
  warm: Int32Array = new Int32Array(0);
  /** How much of each name the newest messages talk of, and how much the user ever wrote of, from 0 to 1. */
  focus: Float64Array = new Float64Array(0);
  asked: Float64Array = new Float64Array(0);
}

/** The distinct lines of the material. */
export class LineStore {
  readonly texts: string[] = [];
  /** About how many tokens each takes. */
  readonly costs: number[] = [];
  readonly records: Records = new Records();
  /** Ids of what lines name, each once for a line. */
  readonly names: NumberList = new NumberList();
  /**
   * Names and plain words by where they begin, three numbers each: the entity (-1 for a word; see `AGAIN`), its start and its end. A short
   * line has none: it is shown whole or not at all.
   */
  readonly spots: NumberList = new NumberList();

  namesEnd(id: number): number {
    return id + 1 < this.records.length ? this.records.get(id + 1, LINE.names) : this.names.length;
  }

  spotsEnd(id: number): number {
    return id + 1 < this.records.length ? this.records.get(id + 1, LINE.spots) : this.spots.length;
  }

  /** Its length without its indentation. */
  contentLength(id: number): number {
    return (this.texts[id] ?? '').length - this.records.get(id, LINE.indent);
  }
}

/** What the heading of a group names. */
export interface Title {
  readonly entities: readonly number[];
  readonly words: number;
}

/** How many files of a folder were touched, and where last. */
export interface FolderUse {
  readonly files: number;
  readonly lastAt: number;
}

/** The material, read: its distinct lines and what they name. */
export interface LineIndex {
  readonly lines: LineStore;
  readonly entities: EntityStore;
  readonly sources: readonly Source[];
  /** Where each source begins. */
  readonly starts: readonly number[];
  readonly lengthCharacters: number;
  /** What the digest stands for. */
  readonly covered: Coverage;
  readonly rounds: number;
  /** All groups by their numbers, and what the headings of those name that have one. */
  readonly groups: readonly Group[];
  readonly titles: readonly (Title | undefined)[];
  /** Where each file was last read or written. */
  readonly lastTouched: ReadonlyMap<Group, number>;
  readonly folders: ReadonlyMap<string, FolderUse>;
  readonly demands: readonly string[];
  readonly habits: readonly string[];
}

/** The folder that a path names before its file; empty when it names none. */
export function folderOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end <= 0 ? '' : path.slice(path.lastIndexOf('/', end - 1) + 1, end);
}
