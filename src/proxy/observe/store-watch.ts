import { RoundfoldError } from '../../conversation/errors.ts';
import { isTemporary } from '../../stores/errors.ts';
import type { Store } from '../../stores/store.ts';
import type { FoldEvent, ProxyObserver } from '../record.ts';

export interface StoreWatchOptions {
  /** Takes a line for whoever runs the proxy. */
  readonly say: (line: string) => void;
  /** Milliseconds between two looks at a store that has failed. Default 5000. */
  readonly everyMilliseconds?: number | undefined;
}

/** Knows whether the store of a proxy answers, and says when that changes. An observer, which has to be told of events. */
export interface StoreWatch extends Pick<Required<ProxyObserver>, 'keeperEvent'> {
  /**
   * Looks at the store for the first time. What passes by itself is told and waited for in the background.
   * @param tell is told of looks that fail
   * @throws RoundfoldError for a store that cannot be used, however long one waits
   */
  begin(tell: (event: FoldEvent) => void): Promise<void>;
  /** Whether the store has answered since the beginning. */
  hasAnswered(): boolean;
  /** Looks no more. */
  close(): void;
}

const EVERY_MS = 5000;
const LEASE_MS = 1000;

/** Watches the store of a proxy. */
export function watchStore(store: Store, options: StoreWatchOptions): StoreWatch {
  const { say, everyMilliseconds = EVERY_MS } = options;
  let tell: (event: FoldEvent) => void = () => undefined;
  let hasAnswered = false;
  let isFailing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const failed = (error: unknown): void => {
    if (isFailing || isClosed) return;
    isFailing = true;
    // What other errors say may hold anything.
    const why = RoundfoldError.is(error) ? error.message : 'the store does not answer';
    say(`${why}; requests go on without it: nothing is kept, and what is kept is not used`);
    timer = setTimeout(lookAgain, everyMilliseconds).unref();
  };
  const answered = (): void => {
    hasAnswered = true;
    if (isFailing) say('the store answers now');
    isFailing = false;
  };
  const lookAgain = (): void => {
    tryWriting(store).then(answered, (error: unknown) => {
      tell({ type: 'store-failed', operation: 'acquire', error });
      if (!isClosed) timer = setTimeout(lookAgain, everyMilliseconds).unref();
    });
  };

  return {
    async begin(told) {
      tell = told;
      try {
        await tryWriting(store);
        answered();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        tell({ type: 'store-failed', operation: 'acquire', error });
        failed(error);
      }
    },
    keeperEvent(event) {
      if (event.type === 'store-failed') failed(event.error);
    },
    hasAnswered: () => hasAnswered,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Takes a lease that nobody needs: reading alone would not show that a disk is full or a file read-only. */
async function tryWriting(store: Store): Promise<void> {
  const lease = await store.acquire({
    tenant: '',
    key: 'look',
    owner: `look ${process.pid}`,
    milliseconds: LEASE_MS,
  });
  if (lease !== undefined) await store.release(lease);
}
