import { createHash } from 'node:crypto';
import { isObject } from '../../conversation/json.ts';
import { printableJson } from '../../conversation/printable.ts';
import type { ArchivedSpan, StoreRecord } from '../../stores/store.ts';

/**
 * An export: a line that says what it is, a line for each record, and one that says how many there were. Each line has a
 * SHA-256 of its own; the last one has one of all those before it, so that no line can be missing.
 */
const TYPE = 'roundfold-export';
const VERSION = 1;

export interface ExportWriter {
  readonly counts: RecordCounts;
  first(): string;
  record(record: StoreRecord): string;
  last(): string;
}

export interface RecordCounts {
  readonly checkpoints: number;
  readonly spans: number;
}

/** Writes the lines of one export, each with its line feed. */
export function createExportWriter(): ExportWriter {
  const tally = createTally();
  return {
    get counts() {
      return tally.counts();
    },
    first: () => toLine({ version: VERSION, type: TYPE }),
    record(record) {
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

/** Somebody may look at it in a terminal. */
function toLine(value: object): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}

/** Reading writes the record again: what is not the same text then is not what was exported. */
function checksum(type: string, record: unknown): string {
  return hexadecimal(JSON.stringify([VERSION, type, record]));
}

function hexadecimal(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

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

/** What is wrong with a line. */
export type LineFault =
  | 'not-an-export'
  | 'newer-version'
  | 'damaged'
  | 'malformed'
  | 'incomplete'
  | 'behind-the-end';

export interface ExportReader {
  readonly counts: RecordCounts;
  /** The record of a line, undefined for the first and the last line, or what is wrong with it. */
  read(line: Uint8Array): StoreRecord | LineFault | undefined;
  /** Whether the last line was read. */
  readonly isComplete: boolean;
}

/**
 * Reads the lines of one export, one after the other.
 * @param isRecord whether a value that is what was written is a record of this version
 */
export function createExportReader(isRecord: (record: StoreRecord) => boolean): ExportReader {
  const tally = createTally();
  let place: 'first' | 'records' | 'end' = 'first';

  function readFirst(value: unknown): LineFault | undefined {
    if (!isObject(value) || value['type'] !== TYPE) return 'not-an-export';
    if (value['version'] !== VERSION) return 'newer-version';
    place = 'records';
    return undefined;
  }

  function readLast(value: Readonly<Record<string, unknown>>): LineFault | undefined {
    place = 'end';
    const { checkpoints, spans } = tally.counts();
    const isAll = value['checkpoints'] === checkpoints && value['spans'] === spans;
    return isAll && value['sha256'] === tally.checksum() ? undefined : 'incomplete';
  }

  function readRecord({ type, sha256, record }: Readonly<Record<string, unknown>>): StoreRecord | LineFault {
    if (type !== 'checkpoint' && type !== 'span') return 'damaged';
    if (!isObject(record) || typeof sha256 !== 'string') return 'damaged';
    if (checksum(type, record) !== sha256) return 'damaged';
    tally.add(type, sha256);
    const found = toRecord(type, record);
    return isRecord(found) ? found : 'malformed';
  }

  return {
    get counts() {
      return tally.counts();
    },
    get isComplete() {
      return place === 'end';
    },
    read(line) {
      const value = parse(line);
      if (place === 'first') return readFirst(value);
      if (place === 'end') return 'behind-the-end';
      if (!isObject(value) || value['version'] !== VERSION) return 'damaged';
      return value['type'] === 'end' ? readLast(value) : readRecord(value);
    },
  };
}

/** A record by its name: whether it has the shape of one is checked behind it. */
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
