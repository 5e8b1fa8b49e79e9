import { RoundfoldError } from '../../core/errors.ts';

/** More than any summary and any error is long. */
const MAXIMUM_BYTES = 16 * 1024 * 1024;

/**
 * The text of a response, up to 16 MiB, so that a server gone mad cannot fill the memory.
 * @throws RoundfoldError `upstream` when there is more
 */
export async function readBody(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let sizeBytes = 0;
  let text = '';
  for await (const chunk of response.body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > MAXIMUM_BYTES) {
      throw new RoundfoldError('upstream', `the answer is larger than ${MAXIMUM_BYTES} bytes`, {
        remedy: 'Check the base URL: is this the API?',
      });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
