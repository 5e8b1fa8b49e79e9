import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';

/** Why a body could not be read. */
export type BodyFault = 'too-large' | 'unknown-encoding' | 'undecodable';

/** Largest body that the providers accept, as it came and decoded. */
const maxBodyBytes = 32 * 1024 * 1024;
/** What a client may send in vain before the connection is broken. */
const maxDrainedBytes = 4 * maxBodyBytes;
/** Nobody packs a body more often, and each unpacking costs time. */
const maxEncodings = 3;

type Decoder = (bytes: Buffer) => Promise<Buffer>;

const limits = { maxOutputLength: maxBodyBytes };

const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', (bytes) => promisify(gunzip)(bytes, limits)],
  // With a header of zlib's, as the standard wants it, or without, as some clients send it.
  [
    'deflate',
    (bytes) => ((bytes[0] ?? 0) % 16 === 8 ? promisify(inflate) : promisify(inflateRaw))(bytes, limits),
  ],
  ['br', (bytes) => promisify(brotliDecompress)(bytes, limits)],
  ['zstd', (bytes) => promisify(zstdDecompress)(bytes, limits)],
]);

/** Encodings of bodies that are understood. */
export const encodingNames: readonly string[] = [...decoders.keys()];

/**
 * Reads a body and undoes its encoding. One that is too large is read on and thrown away, so that the client gets to see
 * the refusal.
 * @throws when the client goes away
 */
export async function readBody(
  request: IncomingMessage,
  encoding: string | undefined,
): Promise<Buffer | BodyFault> {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer; // no encoding is set, so chunks are bytes
    sizeBytes += bytes.length;
    if (sizeBytes <= maxBodyBytes) chunks.push(bytes);
    else chunks = [];
    if (sizeBytes > maxDrainedBytes) request.destroy();
  }
  return sizeBytes > maxBodyBytes ? 'too-large' : decode(Buffer.concat(chunks), encoding);
}

/** Undoes the encodings in the order opposite to the one in which they were applied. */
async function decode(bytes: Buffer, encoding: string | undefined): Promise<Buffer | BodyFault> {
  const names = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > maxEncodings) return 'unknown-encoding';
  let decoded = bytes;
  for (const name of names.toReversed()) {
    const decoder = decoders.get(name);
    if (decoder === undefined) return 'unknown-encoding';
    try {
      decoded = await decoder(decoded);
    } catch (error) {
      return isTooLarge(error) ? 'too-large' : 'undecodable';
    }
  }
  return decoded;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}
