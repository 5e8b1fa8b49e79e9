import type { ToldSession } from '../../report/html/session-article.ts';
import { detailsOf, mergeDetails, type SessionDetails } from '../../report/session-details.ts';
import type { SessionRow } from '../../report/session-row.ts';
import type { ExaminedFile } from '../examine/examine-file.ts';
import { type ExamineOptions, examineFiles } from '../examine/examine-files.ts';
import { sizedFiles } from '../examine/find-files.ts';

/** A session in the list. */
export interface ListedSession {
  readonly row: SessionRow;
  /** The rows it is made of, as they were found: its own, and those of sub-agents that have files of their own. */
  readonly parts: readonly [SessionRow, ...SessionRow[]];
}

/** What was found in each file that was looked at. */
export type Looks = ReadonlyMap<string, ExaminedFile<SessionRow>>;

export interface LookIntoOptions
  extends Pick<ExamineOptions<SessionDetails>, 'signal' | 'terminal' | 'progress'> {
  /** Whether to find out what each session would have cost with roundfold. */
  readonly isReplayed: boolean;
}

/** Looks into the files of the listed sessions for what their own pages tell. */
export async function lookInto(
  sessions: readonly ListedSession[],
  looks: Looks,
  { isReplayed, ...how }: LookIntoOptions,
): Promise<readonly ToldSession[]> {
  const found = new Map<string, readonly SessionDetails[]>();
  const paths = new Set(sessions.flatMap(({ parts }) => parts.map(({ file }) => file)));
  await examineFiles<SessionDetails>(
    sizedFiles([...paths]).toSorted((left, right) => right.sizeBytes - left.sizeBytes),
    {
      ...how,
      task: { command: 'details', options: { isReplayed }, reading: {} },
      examine: (recordings) => detailsOf(recordings, { isReplayed }),
      onExamined: (file, examined) => void found.set(file.path, examined.found),
    },
  );
  /** The details of a file stand in the order of its rows. */
  const detailsFor = (row: SessionRow): SessionDetails | undefined =>
    found.get(row.file)?.[looks.get(row.file)?.found.indexOf(row) ?? -1];
  return sessions.map(({ row, parts: [own, ...others] }) => {
    const details = detailsFor(own);
    const more = others.map(detailsFor).filter((each) => each !== undefined);
    return { row, details: details === undefined ? undefined : mergeDetails(details, more) };
  });
}
