import type { Store } from '../../stores/store.ts';
import type { ProxyObserver } from '../record.ts';
import type { PageHandler, ProxyOptions } from '../server.ts';
import { createLedger, type Ledger, type LedgerOptions } from './ledger.ts';
import { createRequestLog, type LogOptions } from './log.ts';
import { createPages } from './pages.ts';
import { createTelemetry } from './telemetry.ts';
import { createWishes } from './wishes.ts';

export interface ObservationOptions {
  /** That of the proxy: folds are read from it, undone folds and pins kept in it. */
  readonly store: Store;
  /** Whether the dashboard shows texts of messages and memories. Default false. */
  readonly showContent?: boolean | undefined;
  /** Where the log goes. Default: there is none. */
  readonly log?: LogOptions | undefined;
  readonly ledger?: LedgerOptions | undefined;
  /** Further ones that are told of everything. */
  readonly observers?: readonly ProxyObserver[] | undefined;
}

/** Everything that watches a proxy, as `startProxy` takes it. */
export interface Observation {
  readonly observer: Required<ProxyObserver>;
  readonly pages: PageHandler;
  readonly wishesOf: NonNullable<ProxyOptions['wishesOf']>;
  readonly ledger: Ledger;
  /** Ends the log. */
  close(): void;
}

/**
 * Watches a proxy: ledger, dashboard, metrics, log and, where it is installed, OpenTelemetry.
 * @throws RoundfoldError when the log cannot be opened
 */
export async function createObservation(options: ObservationOptions): Promise<Observation> {
  const { store, showContent } = options;
  const ledger = createLedger(options.ledger);
  const wishes = createWishes({ store });
  const log = options.log === undefined ? undefined : createRequestLog(options.log);
  const own = [ledger, log, await createTelemetry()].filter((each) => each !== undefined);
  return {
    ledger,
    observer: joinObservers([...own, ...(options.observers ?? [])]),
    pages: createPages(ledger, { store, wishes, showContent }),
    wishesOf: wishes.of,
    close: () => log?.close(),
  };
}

/** Tells several observers. One that throws keeps nothing from the others. */
function joinObservers(observers: readonly ProxyObserver[]): Required<ProxyObserver> {
  const tell = (say: (observer: ProxyObserver) => void) => {
    for (const observer of observers) {
      try {
        say(observer);
      } catch {
        // Exporters of spans may be anybody's, and a request must not fail for them.
      }
    }
  };
  return {
    exchange: (record) => tell((observer) => observer.exchange?.(record)),
    refused: (record) => tell((observer) => observer.refused?.(record)),
    keeperEvent: (event) => tell((observer) => observer.keeperEvent?.(event)),
    windowLearnt: (model, windowTokens) => tell((observer) => observer.windowLearnt?.(model, windowTokens)),
    streamOpened: () => tell((observer) => observer.streamOpened?.()),
    streamClosed: () => tell((observer) => observer.streamClosed?.()),
  };
}
