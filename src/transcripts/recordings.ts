import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { RoundfoldError } from '../conversation/errors.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { findFormat, recogniseFormat } from '../formats/registry.ts';
import { type BadInput, type JsonEntry, type ReadOptions, readJsonValues } from './input/json-values.ts';
import { type ByteSource, fileSource } from './input/source.ts';
import { readOpencodeDatabase } from './opencode/database.ts';
import { transcriptReaders } from './registry.ts';
import type { Segment, Transcript, TranscriptFold, TranscriptReader } from './transcript.ts';

/** A conversation found in a file, ready to be looked at. */
export interface Recording {
  readonly transcript: Transcript;
  /** One conversation per segment of the transcript, oldest first; the last one is live. */
  readonly conversations: readonly Conversation[];
}

export interface RecordingOptions extends ReadOptions {
  /** Name of the reader, when it shall not be recognised. */
  readonly reader?: string | undefined;
  /** Name of the wire format of a plain JSON file, when it shall not be recognised. */
  readonly format?: string | undefined;
}

/**
 * Reads every conversation of a file, or of standard input for `-`: what `readRecordings` reads, and OpenCode's database.
 *
 * @throws RoundfoldError `input-not-understood` when there is no conversation in it, or when it cannot be read
 */
export async function* readRecordingsOf(
  path: string,
  options: RecordingOptions = {},
): AsyncGenerator<Recording, void, undefined> {
  const source = await fileSource(path);
  if (path === '-' || !isDatabase(path)) {
    yield* readRecordings(source, options);
    return;
  }
  const reject = (place: BadInput['place'], reason: string) => options.onBadInput?.({ place, reason });
  let found = 0;
  for await (const transcript of readOpencodeDatabase(path, reject)) {
    found++;
    yield toRecording(transcript);
  }
  if (found === 0) throw nothingFound(source, undefined);
}

const SQLITE_MAGIC = 'SQLite format 3\0';

function isDatabase(path: string): boolean {
  if (!statSync(path).isFile()) return false;
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(SQLITE_MAGIC.length);
    return readSync(file, bytes) === bytes.length && bytes.toString('latin1') === SQLITE_MAGIC;
  } finally {
    closeSync(file);
  }
}

function toRecording(transcript: Transcript): Recording {
  return {
    transcript,
    conversations: transcript.segments.map((segment) => toConversation(segment, transcript)),
  };
}

/** So many values are looked at before a reader is chosen. */
const SAMPLE_SIZE = 50;

/**
 * Reads every conversation of a file: a session of a known agent, a request body, a list of messages, a log of
 * requests. Each is given as soon as it is complete.
 *
 * @throws RoundfoldError `input-not-understood` when there is no conversation in it, `usage` for an unknown reader
 */
export async function* readRecordings(
  source: ByteSource,
  options: RecordingOptions = {},
): AsyncGenerator<Recording, void, undefined> {
  const readers = transcriptReaders((value) => options.format ?? recogniseFormat(value)?.name);
  let lastBad: BadInput | undefined;
  const onBadInput = (bad: BadInput) => {
    lastBad = bad;
    options.onBadInput?.(bad);
  };

  let found = 0;
  for await (const transcript of readTranscripts(source, readers, { ...options, onBadInput })) {
    found++;
    yield toRecording(transcript);
  }
  if (found === 0) throw nothingFound(source, lastBad);
}

async function* readTranscripts(
  source: ByteSource,
  readers: readonly TranscriptReader[],
  options: RecordingOptions & { onBadInput: (bad: BadInput) => void },
): AsyncGenerator<Transcript, void, undefined> {
  const sample: JsonEntry[] = [];
  let fold: TranscriptFold | undefined;
  const start = function* (): Iterable<Transcript> {
    fold = chooseReader(sample, readers, options.reader).open((place, reason) =>
      options.onBadInput({ place, reason }),
    );
    for (const entry of sample) yield* fold.add(entry);
  };
  for await (const entry of readJsonValues(source, options)) {
    if (fold !== undefined) {
      yield* fold.add(entry);
      continue;
    }
    sample.push(entry);
    if (sample.length === SAMPLE_SIZE) yield* start();
  }
  if (fold === undefined) yield* start();
  if (fold !== undefined) yield* fold.end();
}

function chooseReader(
  sample: readonly JsonEntry[],
  readers: readonly TranscriptReader[],
  name: string | undefined,
): TranscriptReader {
  const chosen = readers.find((reader) =>
    name === undefined ? sample.length > 0 && reader.recognise(sample) : reader.name === name,
  );
  if (chosen !== undefined) return chosen;
  const fallback = readers.at(-1);
  if (name === undefined && fallback !== undefined) return fallback;
  const known = readers.map((reader) => reader.name).join(', ');
  throw new RoundfoldError('usage', `unknown reader ${JSON.stringify(name)}`, { remedy: `Known: ${known}.` });
}

function toConversation(segment: Segment, transcript: Transcript): Conversation {
  const format = findFormat(transcript.format);
  if (format === undefined)
    throw new RoundfoldError('usage', `unknown format ${JSON.stringify(transcript.format)}`);
  const conversation = format.read(segment.body);
  if (segment.origins.length !== conversation.messages.length) return conversation;
  return {
    ...conversation,
    messages: conversation.messages.map((view, index) => withOrigin(view, segment, index)),
  };
}

/**
 * The view with what the record knows besides the message itself. What a compaction kept was reported with a prompt
 * that is no more: its usage says nothing about this list.
 */
function withOrigin(view: Message, { origins, opening }: Segment, index: number): Message {
  const isCarried = opening !== undefined && index < opening.carried;
  const responseId = origins[index]?.responseId ?? view.responseId;
  const usage = isCarried ? undefined : (origins[index]?.usage ?? view.usage);
  return responseId === view.responseId && usage === view.usage ? view : { ...view, responseId, usage };
}

function nothingFound(source: ByteSource, bad: BadInput | undefined): RoundfoldError {
  const reason = bad === undefined ? '' : `: ${bad.reason}`;
  return new RoundfoldError('input-not-understood', `no conversation found${reason}`, {
    place: bad?.place ?? { source: source.name },
    remedy:
      'Give a session file of an agent, a request body, a list of messages, or a log of requests, as JSON or JSONL.',
  });
}
