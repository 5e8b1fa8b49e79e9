import type { Group, Source } from './sources.ts';

/** Something that the material names. Places count characters from the beginning of the material. */
export interface Entity {
  readonly text: string;
  readonly shape: number;
  /** Lines that show it, repeated ones included. */
  count: number;
  /** Sources that show it. */
  sources: number;
  lastSource: number;
  readonly firstAt: number;
  lastAt: number;
  lastRound: number;
  /** How often the model handed it to a tool, and where last; -1 for nowhere. */
  used: number;
  lastUsedAt: number;
  /** A bit for each origin that shows it. */
  origins: number;
  /** Lines that declare it, lines of failures, and lines of changed files. */
  declared: number;
  failed: number;
  inChanged: number;
  /** The file that showed it last. */
  file: Group | undefined;
  /** How many other names stood on its lines, in all. */
  crowd: number;
  /** Distinct lines that show it, and those of them that also name something of the messages that stay. */
  distinct: number;
  warm: number;
  /** How much of its name the newest messages talk of, and how much the user ever wrote of, from 0 to 1. */
  focus: number;
  asked: number;
  /** Shown by a message that stays. */
  isKept: boolean;
  /** Told by an earlier digest, which chose it once already. */
  isCarried: boolean;
}

/** A distinct line of the material. */
export interface Line {
  readonly text: string;
  /** Where it begins after its indentation. */
  readonly indent: number;
  /** Ids of what it names, each once. */
  readonly entities: readonly number[];
  /** Plain words on it. */
  readonly words: number;
  /**
   * Names and plain words by where they begin, three numbers each: the entity (-1 for a word), its start and its end. Empty
   * for a short line, which is shown whole or not at all.
   */
  readonly spots: readonly number[];
  /** Where it is shown: its newest source, its number there, and how many lines the source has. */
  source: number;
  place: number;
  sourceLines: number;
  group: Group;
  origin: number;
  /** How often it occurs, and how often a tool read it. */
  count: number;
  reads: number;
  lastAt: number;
  /** Where an edit last took it out of a file or put it in; -1 for nowhere. */
  removedAt: number;
  writtenAt: number;
  /** Lines between it and the nearest line that an edit touched, in its source. */
  editDistance: number;
  isKept: boolean;
  isCarried: boolean;
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
  readonly lines: readonly Line[];
  readonly entities: readonly Entity[];
  readonly sources: readonly Source[];
  /** Where each source begins. */
  readonly starts: readonly number[];
  readonly lengthCharacters: number;
  readonly rounds: number;
  readonly titles: ReadonlyMap<Group, Title>;
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
