/**
 * What needs a file system: `roundfold/node`.
 * @module
 */
import { appendFileSync } from 'node:fs';
import {
  type LoggingOptions,
  type LogRecord,
  type LogSink,
  withLogging as logTo,
} from '../compaction/decorators/with-logging.ts';
import type { Strategy } from '../compaction/plan/strategy.ts';

export interface FileLogOptions {
  /** Puts the time in front of every record. Default: records have none, so that two logs can be compared. */
  readonly now?: (() => Date) | undefined;
}

/**
 * A sink that appends every record to a file, one line of JSON each. A new file is for its owner alone. The file is opened
 * for every record: it may be moved away in between, and one that cannot be opened is known by the first record.
 * @returns a sink that throws what the file system throws, which `withLogging` hands to `onSinkError`
 */
export function fileLog(path: string, { now }: FileLogOptions = {}): (record: LogRecord) => void {
  return (record) => {
    const line = now === undefined ? record : { time: now().toISOString(), ...record };
    appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  };
}

/**
 * Like `withLogging` of the root entry, and takes the path of a file as well: records are appended to it as lines of JSON.
 * A full disk does not break a run.
 */
export function withLogging(inner: Strategy, sink: LogSink | string, options: LoggingOptions = {}): Strategy {
  return logTo(inner, typeof sink === 'string' ? fileLog(sink) : sink, options);
}
