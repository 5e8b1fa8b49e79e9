import { describe, expect, it } from 'vitest';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { type ContinuityRow, continuityOf, continuityShares } from '../support/continuity.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writtenSession } from '../support/written-session.ts';

/** `npm run test:continuity` does the same with recorded sessions. */
const folder = temporaryFolder();

describe.each([
  { title: 'a session of a coding agent', session: writtenSession({ files: 24 }) },
  {
    title: 'a session that its harness compacted',
    session: writtenSession({ files: 20, isCompacted: true }),
  },
])('$title, cut where requests were sent and compacted', async ({ title, session }) => {
  const rows: ContinuityRow[] = [];
  const source = await fileSource(folder.write(`${title}.jsonl`, session));
  for await (const recording of readRecordings(source)) {
    for await (const row of continuityOf(recording, { session: title, cuts: 8, minimumTokens: 1000 }))
      rows.push(row);
  }

  it.each(continuityShares)('to %d of its size ends with the current turn', (share) => {
    expect(rows.filter((row) => row.share === share && !row.endsWithTurn)).toEqual([]);
    expect(rows.some((row) => row.share === share)).toBe(true);
  });

  it('stays legal', () => {
    expect(rows.filter(({ broken }) => broken.length > 0)).toEqual([]);
  });

  it('gives the same bytes by itself as by hand', () => {
    expect(rows.filter(({ isOnePath }) => !isOnePath)).toEqual([]);
  });
});
