import { createHash } from 'node:crypto';
import { isObject } from '../conversation/json.ts';
import { printableJson } from '../conversation/printable.ts';
import type { ArchivedSpan, StoreRecord } from '../stores/store.ts';

/**
 * An export: a line that says what it is, a line for each record, and one that says how many there were. Each line has a
 * SHA-256 of its own; the last one has one of all those before it, so that no line can be missing.
 */
const TYPE = 'roundfold-export';
const VERSION = 1;

export interface RecordCounts {
  readonly checkpoints: number;
  readonly spans: number;
}

/** Writes the lines of one export, each with its line feed. */
export function createExportWriter() {
  const tally = createTally();
  return {
    counts: tally.counts,
    first: () => toLine({ version: VERSION, type: TYPE }),
    record(record: StoreRecord): string {
      const type = 'checkpoint' in record ? 'checkpoint' : 'span';
      const value = 'checkpoint' in record ? record.checkpoint : spanValue(record.span);
      const sha256 = checksum(type, value);
      tally.add(type, sha256);
      return toLine({ version: VERSION, type, sha256, record: value });
    },
    last: () => toLine({ version: VERSION, type: 'end', ...tally.counts(), sha256: tally.checksum() }),
  };
}

function spanValue({ body, ...head }: ArchivedSpan): object {
  return { ...head, body: Buffer.from(body).toString('base64') };
}

/** Escaped, because somebody may look at it in a terminal. */
function toLine(value: object): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}

/** The reader serialises the record again and compares: any difference in the text means damage. */
function checksum(type: string, record: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([VERSION, type, record]))
    .digest('hex');
}

/** Counts the records of an export, and sums up their checksums. */
function createTally() {
  const all = createHash('sha256');
  const counts = { checkpoint: 0, span: 0 };
  return {
    add(type: 'checkpoint' | 'span', sha256: string): void {
      counts[type]++;
      all.update(sha256);
    },
    counts: (): RecordCounts => ({ checkpoints: counts.checkpoint, spans: counts.span }),
    checksum: () => all.copy().digest('hex'),
  };
}

type Tally = ReturnType<typeof createTally>;

const COPY = 'Use another copy of the export.';

/** What can be wrong with a line, and what to do about it. */
const FAULTS = {
  'not-an-export': ['this is no export of a store', 'Give a file that `roundfold store export` wrote.'],
  'newer-version': ['the export was written by a newer version of roundfold', 'Update roundfold.'],
  damaged: ['the line is damaged', COPY],
  malformed: ['the line holds no record of a store', COPY],
  incomplete: ['lines are missing, or not in their order', COPY],
  'behind-the-end': ['there is more behind the end of the export', 'Import one export at a time.'],
} as const;

type LineFault = keyof typeof FAULTS;

/** Faults after which nothing can be read. */
const LAST: ReadonlySet<LineFault> = new Set(['not-an-export', 'newer-version', 'behind-the-end']);

/** A line that is not what was exported. Never holds content. */
export interface DamagedLine {
  readonly line: number;
  readonly message: string;
  readonly remedy: string;
}

type Found =
  | { readonly record: StoreRecord }
  | { readonly damage: DamagedLine }
  | { readonly counts: RecordCounts };

/**
 * Reads an export: its records, with damaged lines in their places, then how many records there were.
 * @param isRecord whether a value that is what was written is a record of this version
 */
export async function* readExport(
  chunks: AsyncIterable<Uint8Array>,
  isRecord: (record: StoreRecord) => boolean,
): AsyncGenerator<Found> {
  const tally = createTally();
  let line = 0;
  let isEnded = false;
  let isDamaged = false;
  const read = (value: unknown): StoreRecord | LineFault | undefined => {
    if (line === 1) return faultOfFirst(value);
    if (isEnded) return 'behind-the-end';
    if (!isObject(value) || value['version'] !== VERSION) return 'damaged';
    isEnded = value['type'] === 'end';
    return isEnded ? faultOfLast(value, tally) : readRecord(value, tally, isRecord);
  };
  for await (const bytes of byteLines(chunks)) {
    line++;
    const found = read(parse(bytes));
    // A damaged line is missing from the sum as well: it is reported once.
    if (found === undefined || (found === 'incomplete' && isDamaged)) continue;
    if (typeof found !== 'string') {
      yield { record: found };
      continue;
    }
    isDamaged = true;
    yield { damage: damagedLine(found, line) };
    if (LAST.has(found)) return;
  }
  if (!isEnded && !isDamaged)
    yield { damage: damagedLine(line === 0 ? 'not-an-export' : 'incomplete', line + 1) };
  yield { counts: tally.counts() };
}

function damagedLine(fault: LineFault, line: number): DamagedLine {
  const [message, remedy] = FAULTS[fault];
  return { line, message, remedy };
}

function faultOfFirst(value: unknown): LineFault | undefined {
  if (!isObject(value) || value['type'] !== TYPE) return 'not-an-export';
  return value['version'] === VERSION ? undefined : 'newer-version';
}

function faultOfLast(value: Readonly<Record<string, unknown>>, tally: Tally): LineFault | undefined {
  const { checkpoints, spans } = tally.counts();
  const isAll = value['checkpoints'] === checkpoints && value['spans'] === spans;
  return isAll && value['sha256'] === tally.checksum() ? undefined : 'incomplete';
}

function readRecord(
  { type, sha256, record }: Readonly<Record<string, unknown>>,
  tally: Tally,
  isRecord: (record: StoreRecord) => boolean,
): StoreRecord | LineFault {
  if (type !== 'checkpoint' && type !== 'span') return 'damaged';
  if (!isObject(record) || checksum(type, record) !== sha256) return 'damaged';
  tally.add(type, sha256);
  const found = toRecord(type, record);
  return isRecord(found) ? found : 'malformed';
}

/** Casts a value to a record. The caller checks that it has the shape of one. */
function toRecord(type: 'checkpoint' | 'span', record: Readonly<Record<string, unknown>>): StoreRecord {
  if (type === 'checkpoint') return { checkpoint: record } as unknown as StoreRecord;
  const body =
    typeof record['body'] === 'string' ? new Uint8Array(Buffer.from(record['body'], 'base64')) : undefined;
  return { span: { ...record, body } } as unknown as StoreRecord;
}

function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
}

const LINE_FEED = 10;

/** The lines of a stream of bytes. Only a line feed ends a line, unlike in `node:readline`. */
async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]);
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
