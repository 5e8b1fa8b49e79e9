import type { LogRecord } from '../compaction/decorators/with-logging.ts';
import type { Outcome, Strategy } from '../compaction/plan/strategy.ts';
import { fileLog, withLogging } from '../integrations/node.ts';

/** Why nothing was done although a strategy may have been asked for a plan. */
const NO_RUN = /^(?:below-trigger|paused|nested|economics-.*)$/;

/**
 * Appends a record of every run to a file. A plan that was made only to learn what it would cost is no run: its record is
 * held until it is known what came of it.
 */
export class RunLog {
  readonly #write: (record: LogRecord) => void;
  readonly #onFailure: (error: unknown) => void;
  #newest: LogRecord | undefined;

  constructor(path: string, onFailure: (error: unknown) => void) {
    this.#write = fileLog(path);
    this.#onFailure = onFailure;
  }

  /** The strategy, whose runs are noted now. */
  noting(strategy: Strategy): Strategy {
    return withLogging(strategy, (record) => {
      this.#newest = record;
    });
  }

  /** Writes the newest record down if it was a run. */
  settle(outcome: Outcome): void {
    const record = this.#newest;
    this.#newest = undefined;
    if (record === undefined || (outcome.status !== 'compacted' && NO_RUN.test(outcome.reason))) return;
    try {
      this.#write(record);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
