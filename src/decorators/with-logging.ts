import { notCompacted, type Outcome, type Strategy } from '../core/strategy.ts';
import { errorText } from './error-text.ts';
import { formatLogRecord, type LogRecord, toLogRecord } from './log-record.ts';

/** Where records go: a function gets each as data, an object with `write` (a stream) as text. */
export type LogSink =
  | ((record: LogRecord) => unknown)
  | {
      write(text: string): unknown;
    };

export interface LoggingOptions {
  /** Told when a sink throws, or when the promise it returned is rejected. Default: nobody is. */
  readonly onSinkError?: ((error: unknown) => void) | undefined;
}

/**
 * Writes one record for every run: those that did nothing, failed or threw included. Changes nothing else: a sink that
 * throws does not break a run, and a promise that it returns is not waited for.
 */
export function withLogging(inner: Strategy, sink: LogSink, { onSinkError }: LoggingOptions = {}): Strategy {
  const write = async (toRecord: () => LogRecord): Promise<void> => {
    try {
      const record = toRecord();
      await (typeof sink === 'function' ? sink(record) : sink.write(formatLogRecord(record)));
    } catch (error) {
      onSinkError?.(error);
    }
  };

  return {
    name: inner.name,
    async compact(conversation, context) {
      const log = (outcome: Outcome): void => {
        // What is left to reject is `onSinkError` itself, and there is nobody to tell.
        write(() => toLogRecord(inner.name, conversation, context, outcome)).catch(() => undefined);
      };
      try {
        const outcome = await inner.compact(conversation, context);
        log(outcome);
        return outcome;
      } catch (error) {
        log(notCompacted('failed', 'threw', errorText(error)));
        throw error;
      }
    },
  };
}
