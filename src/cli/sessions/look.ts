import { RoundfoldError } from '../../conversation/errors.ts';
import { type SessionRow, sessionRows } from '../../report/session-row.ts';
import { type Recording, readRecordingsOf } from '../../transcripts/recordings.ts';

/** What a look at one file gave. Plain data: it comes from a thread, and is kept between looks. */
export interface Look {
  readonly rows: readonly SessionRow[];
  /** Why there is no session in it; undefined when there is one. */
  readonly problem: string | undefined;
}

/** Reads one file. A file that cannot be read is a look with a problem. */
export async function lookAt(path: string): Promise<Look> {
  const recordings: Recording[] = [];
  try {
    for await (const recording of readRecordingsOf(path)) recordings.push(recording);
    return { rows: sessionRows(path, recordings), problem: undefined };
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    return { rows: [], problem: error.message };
  }
}
