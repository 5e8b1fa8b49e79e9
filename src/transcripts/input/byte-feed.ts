import { RoundfoldError } from '../../conversation/errors.ts';
import { appendBytes, type ByteWindow, createByteWindow } from './byte-window.ts';
import { describedBytes } from './described-bytes.ts';
import type { ByteSource } from './source.ts';
import { type Damage, unpack } from './unpack.ts';

interface FeedOptions {
  readonly onProgress?: ((bytesRead: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A source that is being read into a window, unpacked where it is compressed. */
export interface ByteFeed {
  readonly window: ByteWindow;
  /** The first bytes, for messages. */
  readonly head: Uint8Array;
  readonly damage: Damage | undefined;
  /**
   * Reads one chunk, or declares the window complete. Throws `RoundfoldError` when the source fails, and the signal's
   * reason when it was aborted.
   */
  fill(keepFrom: number): Promise<void>;
  close(): Promise<void>;
}

/** Begins to read a source. Nothing is opened before the first `fill`. */
export function openFeed(source: ByteSource, options: FeedOptions): ByteFeed {
  const window = createByteWindow();
  const chunks = readChunks(source, options);
  const unpacked = unpack(chunks);
  let head: Uint8Array = new Uint8Array();
  let damage: Damage | undefined;

  return {
    window,
    get head() {
      return head;
    },
    get damage() {
      return damage;
    },
    async fill(keepFrom) {
      const next = await unpacked.next();
      if (next.done === true) {
        damage = next.value;
        window.isComplete = true;
        return;
      }
      const missing = describedBytes - head.length;
      if (missing > 0) head = Buffer.concat([head, next.value.subarray(0, missing)]);
      appendBytes(window, next.value, keepFrom);
    },
    async close() {
      await unpacked.return(undefined);
      await chunks.return(undefined);
    },
  };
}

async function* readChunks(
  source: ByteSource,
  { onProgress, signal }: FeedOptions,
): AsyncGenerator<Uint8Array, undefined> {
  const iterator = source.open()[Symbol.asyncIterator]();
  let bytesRead = 0;
  try {
    for (;;) {
      const next = await untilAborted(() => iterator.next(), signal).catch((cause: unknown) => {
        throw signal?.aborted === true ? signal.reason : readError(source.name, bytesRead, cause);
      });
      if (next.done === true) return undefined;
      bytesRead += next.value.length;
      onProgress?.(bytesRead);
      yield next.value;
    }
  } finally {
    const closing = iterator.return?.();
    // A read that never comes back would keep an aborted iterator from closing.
    if (signal?.aborted !== true) await closing;
  }
}

async function untilAborted<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await work();
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function readError(source: string, byte: number, cause: unknown): RoundfoldError {
  if (RoundfoldError.is(cause)) return cause;
  const words = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new RoundfoldError(
    'input-not-understood',
    `${source} could not be read on from byte ${byte}${words}`,
    {
      cause,
      place: { source, byte },
      remedy: 'Check the file and the disk it is on, then try again.',
    },
  );
}
