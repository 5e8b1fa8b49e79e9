import { RoundfoldError } from '../conversation/errors.ts';
import type { Completion, CompletionRequest, ModelClient } from '../memory/model/model-client.ts';

/** Asks a model in whatever way its owner likes. A plain string stands for a whole answer. */
export type CompleteFunction = (
  request: CompletionRequest,
) => string | Completion | Promise<string | Completion>;

/**
 * A client made of a function: for SDKs that are set up already, models in the same process, and tests. What the
 * function throws becomes an `upstream` error with it as the cause. A function that does not listen to the signal is
 * left behind when the signal is aborted.
 */
export function functionClient(complete: CompleteFunction, model = 'function'): ModelClient {
  return {
    model,
    async complete(request) {
      const { signal } = request;
      signal?.throwIfAborted();
      try {
        const answer = await withAbort(Promise.resolve(complete(request)), signal);
        return typeof answer === 'string' ? { text: answer, stop: 'end', usage: undefined } : answer;
      } catch (error) {
        signal?.throwIfAborted();
        throw RoundfoldError.is(error) ? error : failure(error, model);
      }
    },
  };
}

function failure(cause: unknown, model: string): RoundfoldError {
  return new RoundfoldError('upstream', `the function that asks ${model} failed`, {
    cause,
    remedy: 'The cause is what it threw.',
  });
}

function withAbort<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abandon = () => reject(signal.reason);
    signal.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon));
  });
}
