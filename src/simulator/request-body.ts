import type { IncomingMessage } from 'node:http';

/** The bytes of a request, or `too-large`. */
export type RequestBody = { readonly bytes: Buffer } | 'too-large';

/** Largest body that the providers accept. */
const maxBodyBytes = 32 * 1024 * 1024;
/** What a client may send in vain before the connection is broken. */
const maxDrainedBytes = 4 * maxBodyBytes;

/**
 * Reads a body. One that is too large is read on and thrown away, so that the client gets to see the refusal.
 * @throws when the client goes away
 */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer; // no encoding is set, so chunks are bytes
    sizeBytes += bytes.length;
    if (sizeBytes <= maxBodyBytes) chunks.push(bytes);
    else chunks = [];
    if (sizeBytes > maxDrainedBytes) request.destroy();
  }
  return sizeBytes > maxBodyBytes ? 'too-large' : { bytes: Buffer.concat(chunks) };
}

/** The JSON of a body; undefined when it is none, or nested more than 500 levels deep. */
export function tryParseJson(bytes: Buffer): { readonly value: unknown } | undefined {
  if (isTooDeep(bytes)) return undefined;
  try {
    return { value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return undefined;
  }
}

/** No request comes near it; whatever walks through a body may then do so by calling itself. */
const maxDepth = 500;
const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\{}[]');

function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === quote) index = endOfText(bytes, index);
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Where the text that begins at a quote ends; the end of all bytes when it does not. */
function endOfText(bytes: Buffer, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return index;
}
