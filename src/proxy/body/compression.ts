import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { ChunkSink } from '../answer.ts';

/** One row an encoding: how a whole body is read, and how a stream is. */
const encodings: ReadonlyMap<
  string,
  {
    readonly whole: (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;
    readonly stream: () => zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;
  }
> = new Map([
  [
    'gzip',
    { whole: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip), stream: zlib.createGunzip },
  ],
  [
    'x-gzip',
    { whole: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip), stream: zlib.createGunzip },
  ],
  [
    'deflate',
    { whole: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate), stream: zlib.createInflate },
  ],
  [
    'br',
    {
      whole: promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress),
      stream: zlib.createBrotliDecompress,
    },
  ],
  [
    'zstd',
    {
      whole: promisify<Uint8Array, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress),
      stream: zlib.createZstdDecompress,
    },
  ],
]);

/** What came of reading a body: its plain bytes, or why there are none. */
export type Decoded = Uint8Array | 'too-large' | 'unreadable';

/** A whole body in plain bytes: the very same ones when it is not compressed. */
export async function decodeBody(
  bytes: Uint8Array,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Decoded> {
  const name = contentEncoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  const encoding = encodings.get(name);
  if (encoding === undefined) return 'unreadable';
  try {
    return await encoding.whole(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? 'too-large' : 'unreadable';
  }
}

/** More of an answer than this is not unpacked: nothing that is looked for stands behind it. */
const MOST_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Unpacks the chunks of an answer; undefined for an encoding that is not known. One that is broken gives nothing more. */
export function decodeChunks(encoding: string, take: (chunk: Uint8Array) => void): ChunkSink | undefined {
  const stream = encodings.get(encoding)?.stream();
  if (stream === undefined) return undefined;
  let sizeBytes = 0;
  const ended = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > MOST_UNPACKED_BYTES) stream.destroy();
      else take(chunk);
    });
    stream.on('error', () => resolve());
    stream.on('close', resolve);
    stream.on('end', resolve);
  });
  return {
    push(chunk) {
      if (!stream.destroyed) stream.write(chunk);
    },
    async end() {
      if (!stream.destroyed) stream.end();
      await ended;
    },
  };
}
