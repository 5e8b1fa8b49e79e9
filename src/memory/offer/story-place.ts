/** Where an event stands in the story, and what an offer has to know of the events around it. */

import type { Happening, Said, Told } from '../events.ts';
import type { KnownFile } from '../files.ts';
import type { State } from '../state.ts';
import { OLDEST_SHARE } from '../weights.ts';
import type { Piece, Unit } from './piece.ts';

/** What the story of an event depends on besides the event. */
export interface StoryContext {
  readonly events: readonly Happening[];
  /** Tokens of the whole memory. */
  readonly room: number;
  readonly countText: (text: string) => number;
  /** Number of events. */
  readonly total: number;
  /** Where the newest words of the user stand. */
  readonly newest: number;
  readonly state: State;
  /** Current lines of files, as far as somebody asked for them. */
  readonly linesOf: Map<KnownFile, ReadonlySet<string>>;
  /** Numbers of the user's messages. */
  readonly numbers: ReadonlyMap<Said, number>;
  /** The text of the agent's that the newest request of the user answers; undefined where there is none. */
  readonly asked: Told | undefined;
  readonly shorten: (path: string) => string;
}

/** Where an event stands in the story. */
export class StoryPlace {
  readonly context: StoryContext;
  readonly place: number;
  private readonly turn: number;
  /** Newer things are worth a little more: by this all of its worth is multiplied. */
  readonly aged: number;

  constructor(context: StoryContext, place: number, turn: number) {
    this.context = context;
    this.place = place;
    this.turn = turn;
    this.aged = OLDEST_SHARE + ((1 - OLDEST_SHARE) * place) / Math.max(1, context.total);
  }

  /** Whether the user has spoken since. */
  get isOver(): boolean {
    return this.place < this.context.newest;
  }

  piece(head: string, units: readonly Unit[]): Piece {
    return { part: 'story', place: this.place, head, units, turn: this.turn };
  }
}

/** Text on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
