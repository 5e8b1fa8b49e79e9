import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { RoundfoldError } from '../../conversation/errors.ts';

const chunkBytes = 256 * 1024;

/** A source of bytes. `name` is what messages call it: the path as given, or `<stdin>`. */
export interface ByteSource {
  readonly name: string;
  /** Undefined when it is not known before the end: standard input, pipes, devices. */
  readonly sizeBytes: number | undefined;
  /** Starts reading from the first byte. Files can be opened again; standard input throws at the second time. */
  open(): AsyncIterable<Uint8Array>;
}

/**
 * The file at `path`, or standard input for `-`. The content is not touched before `open`.
 *
 * Throws `RoundfoldError` (`input-not-understood`) for a directory and for what does not exist or may not be read.
 */
export async function fileSource(path: string): Promise<ByteSource> {
  if (path === '-') return standardInput();
  const stats = await stat(path).catch((cause: unknown) => refuse(path, cause));
  if (stats.isDirectory()) {
    throw new RoundfoldError('input-not-understood', `${path} is a directory`, {
      place: { source: path },
      remedy: 'Name a file in it.',
    });
  }
  await access(path, constants.R_OK).catch((cause: unknown) => refuse(path, cause));
  return {
    name: path,
    sizeBytes: stats.isFile() ? stats.size : undefined,
    open: () => createReadStream(path, { highWaterMark: chunkBytes }),
  };
}

interface ChunkOptions {
  readonly onProgress?: ((bytesRead: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The bytes of a source, chunk by chunk. Throws `RoundfoldError` when the source fails, and the signal's reason when it was
 * aborted, even while the source is silent.
 */
export async function* readChunks(
  source: ByteSource,
  { onProgress, signal }: ChunkOptions,
): AsyncGenerator<Uint8Array, void> {
  const iterator = source.open()[Symbol.asyncIterator]();
  let bytesRead = 0;
  try {
    for (;;) {
      const next = await untilAborted(() => iterator.next(), signal).catch((cause: unknown) => {
        throw signal?.aborted === true ? signal.reason : readError(source.name, bytesRead, cause);
      });
      if (next.done === true) return;
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

function standardInput(): ByteSource {
  let isOpened = false;
  return {
    name: '<stdin>',
    sizeBytes: undefined,
    open: () => {
      if (isOpened) {
        throw new RoundfoldError('usage', 'standard input can be read only once', {
          place: { source: '<stdin>' },
          remedy: 'Save it to a file and name the file.',
        });
      }
      isOpened = true;
      return process.stdin;
    },
  };
}

const refusals = new Map([
  ['ENOENT', { problem: 'does not exist', remedy: 'Check the spelling of the path.' }],
  ['ENOTDIR', { problem: 'does not exist', remedy: 'Check the spelling of the path.' }],
  ['EACCES', { problem: 'may not be read', remedy: 'Give yourself permission to read it.' }],
  ['EPERM', { problem: 'may not be read', remedy: 'Give yourself permission to read it.' }],
  ['ELOOP', { problem: 'is a symbolic link to itself', remedy: 'Name the file the link should lead to.' }],
  ['ENAMETOOLONG', { problem: 'is too long for a path', remedy: 'Name a file, not its content.' }],
]);

function refuse(path: string, cause: unknown): never {
  const errorCode = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  const refusal = refusals.get(errorCode);
  throw new RoundfoldError(
    'input-not-understood',
    `${path} ${refusal?.problem ?? `cannot be read (${errorCode})`}`,
    {
      cause,
      place: { source: path },
      remedy: refusal?.remedy ?? 'Check that the path names a readable file.',
    },
  );
}
