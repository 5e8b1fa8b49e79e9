import type { ArchivedSpan, Checkpoint, CommitResult } from '../../src/stores/store.ts';
import { checkpointOf, spanOf } from './store-records.ts';

/** What a process with a store is asked to do. */
export interface WorkerTask {
  readonly name: 'contend' | 'stall' | 'write';
  /** Rounds, milliseconds, or the first number. */
  readonly value: number;
}

/** How a round went for one process. */
export interface RoundReport {
  readonly round: number;
  readonly result: CommitResult;
  readonly fence: number;
  /** What a commit with the lease gave after it was released. */
  readonly late: CommitResult;
}

/** What all processes want to commit in a round. */
export function recordOfRound(round: number): Checkpoint {
  return checkpointOf({ boundary: round + 1 });
}

/** A record of about 10 kB that is different for every number. */
export function recordOfWrite(index: number): { checkpoint: Checkpoint; spans: readonly ArchivedSpan[] } {
  const text = `record ${index} `.repeat(500);
  const handle = `rf:${index}`;
  return {
    checkpoint: checkpointOf({ boundary: index + 1, parts: [{ raw: { text } }] }),
    spans: [spanOf({ handle, start: index, end: index + 1, text: `word${index} ${text.slice(0, 300)}` })],
  };
}
