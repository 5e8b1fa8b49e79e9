/** Counts what a reader leaves out or mends, and says it in whole sentences. */
export interface Tally {
  /** Counts one more. `{n}` in the note stands for the number, `{s}` for the plural: `{n} turn{s} left out`. */
  add(note: string): void;
  /** One sentence per kind of note, in the order in which they first occurred. */
  notes(): readonly string[];
}

/** An empty tally. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  return {
    add: (note) => void counts.set(note, (counts.get(note) ?? 0) + 1),
    notes: () => [...counts].map(([note, count]) => fill(note, count)),
  };
}

function fill(note: string, count: number): string {
  return note.replaceAll('{n}', String(count)).replaceAll('{s}', count === 1 ? '' : 's');
}
