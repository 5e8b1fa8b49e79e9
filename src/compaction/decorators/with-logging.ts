import { RoundfoldError } from '../../conversation/errors.ts';
import { decorate, notCompacted, type Outcome, type Strategy } from '../plan/strategy.ts';
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
 * @throws RoundfoldError `usage` when the sink can take no records, such as the path of a file
 */
export function withLogging(inner: Strategy, sink: LogSink, { onSinkError }: LoggingOptions = {}): Strategy {
  checkSink(sink);
  const write = async (toRecord: () => LogRecord): Promise<void> => {
    try {
      const record = toRecord();
      await (typeof sink === 'function' ? sink(record) : sink.write(formatLogRecord(record)));
    } catch (error) {
      onSinkError?.(error);
    }
  };

  return decorate(inner, async (conversation, context) => {
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
  });
}

/** Programs without types pass anything, and a sink that takes nothing would lose every record in silence. */
function checkSink(sink: unknown): void {
  if (typeof sink === 'function') return;
  const isStream =
    typeof sink === 'object' && sink !== null && 'write' in sink && typeof sink.write === 'function';
  if (isStream) return;
  const isPath = typeof sink === 'string';
  throw new RoundfoldError(
    'usage',
    isPath
      ? 'withLogging of `roundfold` takes no path: it has no file system'
      : 'withLogging needs a sink: a function, or an object with a `write` method',
    {
      remedy: isPath
        ? 'Import withLogging from `roundfold/node`, which takes the path of a file.'
        : 'Pass a function that gets each record, a stream, or import withLogging from `roundfold/node` and pass a path.',
    },
  );
}
