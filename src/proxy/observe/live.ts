import type { ServerResponse } from 'node:http';
import type { Ledger } from './ledger.ts';

export interface LiveOptions {
  /** What to tell of the conversations that have changed since the last time. */
  describe(ids: ReadonlySet<string>): object;
}

/** Tells browsers what has changed, as server-sent events. */
export interface LiveUpdates {
  /** Adds a listener; false when there are too many already. */
  connect(response: ServerResponse): boolean;
  /** Lets all listeners go and takes no more: a proxy that ends waits for answers that are under way. */
  close(): void;
}

const MOST_LISTENERS = 32;
/** Changes are gathered so long: nobody reads faster. */
const GATHER_MS = 250;
const HEARTBEAT_MS = 15_000;
/** A listener that is so far behind is let go. It comes again by itself. */
const MOST_WAITING_BYTES = 1024 * 1024;

export function createLiveUpdates(ledger: Ledger, { describe }: LiveOptions): LiveUpdates {
  const listeners = new Set<ServerResponse>();
  let isClosed = false;
  let changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let leave: (() => void) | undefined;
  let heartbeat: NodeJS.Timeout | undefined;

  const put = (text: string) => {
    for (const response of listeners) {
      if (response.writableLength > MOST_WAITING_BYTES) response.destroy();
      else response.write(text);
    }
  };
  const flush = () => {
    timer = undefined;
    const ids = changed;
    changed = new Set();
    put(`event: change\ndata: ${JSON.stringify(describe(ids))}\n\n`);
  };
  const start = () => {
    leave = ledger.subscribe((id) => {
      if (id !== undefined) changed.add(id);
      timer ??= setTimeout(flush, GATHER_MS).unref();
    });
    heartbeat = setInterval(() => put(': still here\n\n'), HEARTBEAT_MS).unref();
  };
  const stop = () => {
    leave?.();
    clearInterval(heartbeat);
    clearTimeout(timer);
    timer = undefined;
    changed = new Set();
  };

  return {
    connect(response) {
      if (isClosed || listeners.size >= MOST_LISTENERS) return false;
      if (listeners.size === 0) start();
      listeners.add(response);
      response.on('error', () => response.destroy());
      response.once('close', () => {
        listeners.delete(response);
        if (listeners.size === 0) stop();
      });
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      response.write('retry: 1000\n\n');
      return true;
    },
    close() {
      isClosed = true;
      for (const response of listeners) response.end();
    },
  };
}
