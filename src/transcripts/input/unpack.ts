import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';

interface Packing {
  readonly magic: readonly number[];
  create(): Engine;
}

/** A stream of `node:zlib`. `bytesWritten` counts what the engine has consumed. */
type Engine = Transform & { readonly bytesWritten: number };

const packings: readonly Packing[] = [
  { magic: [0x1f, 0x8b], create: () => createGunzip() },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], create: () => createZstdDecompress() },
];

const longestMagicBytes = 4;

/**
 * The bytes behind gzip or zstd, known by their first bytes; anything else passes through unchanged. Reads several members
 * or frames one after the other. Of data that ends early or is damaged it yields what could be read and tells `onDamage` the
 * reason; the errors of `chunks` itself are thrown.
 */
export async function* unpack(
  chunks: AsyncGenerator<Uint8Array, void>,
  onDamage: (reason: string) => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    const head = await readHead(chunks);
    const packing = packings.find(({ magic }) => magic.every((byte, index) => head[index] === byte));
    if (packing !== undefined) {
      const failure = yield* inflate(packing, head, chunks);
      if (failure !== undefined) onDamage(describeFailure(failure));
      return;
    }
    yield head;
    yield* chunks;
  } finally {
    await chunks.return();
  }
}

async function readHead(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  while (head.length < longestMagicBytes) {
    const next = await chunks.next();
    if (next.done === true) return head;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

async function* inflate(
  packing: Packing,
  head: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, Error | undefined> {
  let inflater = createInflater(packing.create());
  try {
    let rest = head;
    for (;;) {
      yield* inflater.write(rest);
      if (inflater.failure !== undefined) return inflater.failure;
      rest = rest.subarray(inflater.consumedBytes);
      if (rest[0] === 0) return undefined; // NUL bytes pad the file behind its last member.
      if (rest.length > 0) {
        // A zstd engine stops behind a frame although another one follows in the same chunk.
        inflater.engine.destroy();
        inflater = createInflater(packing.create());
        continue;
      }
      const next = await chunks.next();
      if (next.done === true) break;
      rest = next.value;
    }
    yield* inflater.end();
    return inflater.failure;
  } finally {
    inflater.engine.destroy();
  }
}

/**
 * Pulls from an engine by hand. Iterating over the engine would lose what it had already unpacked when it fails at the
 * end of a truncated file, because a stream drops its buffer with the error.
 */
function createInflater(engine: Engine) {
  let wake = () => {};
  let failure: Error | undefined;
  let isEnded = false;
  let consumedBefore = 0;
  engine.on('readable', () => wake());
  engine.on('end', () => {
    isEnded = true;
    wake();
  });
  engine.on('error', (error: Error) => {
    failure = error;
    wake();
  });

  async function* drain(isDone: () => boolean): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const piece: Uint8Array | null = engine.read();
      if (piece !== null) yield piece;
      else if (isDone() || isEnded || failure !== undefined) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }

  return {
    engine,
    get failure() {
      return failure;
    },
    async *write(chunk: Uint8Array): AsyncGenerator<Uint8Array, void> {
      let isWritten = false;
      consumedBefore = engine.bytesWritten;
      engine.write(chunk, () => {
        isWritten = true;
        wake();
      });
      yield* drain(() => isWritten);
    },
    /** How much of the chunk written last the engine took. It leaves the rest when its data was over before. */
    get consumedBytes() {
      return engine.bytesWritten - consumedBefore;
    },
    async *end(): AsyncGenerator<Uint8Array, void> {
      engine.end();
      yield* drain(() => false);
    },
  };
}

function describeFailure(failure: Error): string {
  const isShort = 'code' in failure && failure.code === 'Z_BUF_ERROR';
  return isShort ? 'compressed data ends early' : 'compressed data is damaged';
}
