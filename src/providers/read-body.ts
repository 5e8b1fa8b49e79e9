import { RoundfoldError } from '../conversation/errors.ts';

/** More than any summary and any error is long, even in small pieces. */
const MAXIMUM_BYTES = 16 * 1024 * 1024;

/** A body as far as it could be read. */
export interface ReadBody {
  readonly text: string;
  /** What ended it too early; undefined when it is whole. */
  readonly brokenBy: { readonly error: unknown } | undefined;
}

/**
 * The text of a response, up to 16 MiB, so that a server gone mad cannot fill the memory. Whatever has arrived is given
 * back when the connection breaks.
 * @throws RoundfoldError `upstream` when there is more
 */
export async function readBody({ body }: Response): Promise<ReadBody> {
  const decoder = new TextDecoder();
  let sizeBytes = 0;
  let text = '';
  try {
    for await (const chunk of body ?? []) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > MAXIMUM_BYTES) throw tooLarge();
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (RoundfoldError.is(error)) throw error;
    return { text, brokenBy: { error } };
  }
  return { text: text + decoder.decode(), brokenBy: undefined };
}

function tooLarge(): RoundfoldError {
  return new RoundfoldError('upstream', `the answer is larger than ${MAXIMUM_BYTES} bytes`, {
    remedy: 'Check the base URL: is this the API?',
  });
}
