import type { BadInput, JsonEntry } from '../../src/transcripts/input/json-values.ts';
import type { Transcript, TranscriptReader } from '../../src/transcripts/transcript.ts';
import { deepFreeze } from './deep-freeze.ts';

/** How the records stood in their file. */
export interface RecordOptions {
  /** `element`: they are the elements of one array. Default `document`: each is a value of its own. */
  readonly kind?: JsonEntry['kind'];
  /** Name of the file, part of every place. Default none. */
  readonly source?: string;
}

/** What a reader made of its records. */
export interface FoldedRecords {
  readonly transcripts: readonly Transcript[];
  readonly bad: readonly BadInput[];
}

/** Records as a file with one of them on each line gives them, frozen. */
export function recordEntries(
  values: readonly unknown[],
  { kind = 'document', source }: RecordOptions = {},
): readonly JsonEntry[] {
  return values.map((value, index) => ({
    value: deepFreeze(value),
    place: { ...(source === undefined ? {} : { source }), line: index + 1 },
    kind,
    document: kind === 'element' ? 0 : index,
  }));
}

/** Everything a reader finds in the entries, from opening to the end. */
export function foldEntries(reader: TranscriptReader, entries: readonly JsonEntry[]): FoldedRecords {
  const bad: BadInput[] = [];
  const fold = reader.open((place, reason) => void bad.push({ place, reason }));
  const transcripts = entries.flatMap((entry) => [...fold.add(entry)]);
  transcripts.push(...fold.end());
  return { transcripts, bad };
}

/** Everything a reader finds in frozen records, one on each line. */
export function foldRecords(
  reader: TranscriptReader,
  values: readonly unknown[],
  options?: RecordOptions,
): FoldedRecords {
  return foldEntries(reader, recordEntries(values, options));
}

/**
 * The one transcript in the records.
 * @throws Error when there are more or none, or when a record has no place in the file
 */
export function foldTranscript(reader: TranscriptReader, values: readonly unknown[]): Transcript {
  const { transcripts, bad } = foldRecords(reader, values);
  const [transcript] = transcripts;
  if (transcript === undefined || transcripts.length > 1 || bad.length > 0)
    throw new Error(
      `one transcript wanted, found ${transcripts.length} and bad input ${JSON.stringify(bad)}`,
    );
  return transcript;
}

/** The body of one of the transcript's segments, of the first unless said otherwise; undefined when there is none. */
export function bodyOf(transcript: Transcript | undefined, segment = 0): unknown {
  return transcript?.segments[segment]?.body;
}
