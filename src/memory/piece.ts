/** A whole clause, line or block that a memory may show. */
export interface Unit {
  readonly text: string;
  /** What each of its tokens is worth. */
  readonly worth: number;
  /** Whether it begins a line; otherwise it goes on behind the unit before it. */
  readonly startsLine: boolean;
  /** The unit of the same piece without which it makes no sense. */
  readonly needs?: number | undefined;
  /** The names in it, where whoever offers it has found them already. */
  readonly names?: Iterable<string> | undefined;
  /** The unit that holds it as a part: where that one is shown, this one is not. */
  readonly within?: number | undefined;
}

/** The parts of a memory, in their order. */
export const partNames = ['state', 'said', 'story', 'files'] as const;

export type PartName = (typeof partNames)[number];

/** Something that can be told at any length: the units that are chosen of it, in their order, behind its head. */
export interface Piece {
  readonly part: PartName;
  /** Its place in the part, in the order of events. */
  readonly place: number;
  /** Shown when any unit is. */
  readonly head: string;
  readonly units: readonly Unit[];
  /** The page on which it can be read again, by its label (`B12`). */
  readonly page?: string | undefined;
  /** The number of the user's message under which it happened. */
  readonly turn: number;
}
