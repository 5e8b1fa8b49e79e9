import { RoundfoldError } from '../conversation/errors.ts';
import type { Schedule } from './options.ts';

/** So long a request waits for a store. A store that answers later than that does more harm than having none. */
const STORE_PATIENCE_MS = 2_000;

/**
 * The answer of a store to a request that waits for it.
 * @throws RoundfoldError `store` when it does not come in time, or what the store throws
 */
export async function inTime<Value>(asked: Promise<Value>, schedule: Schedule): Promise<Value> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const cancel = schedule(() => {
    const message = `the store has not answered within ${STORE_PATIENCE_MS / 1000} seconds`;
    reject(new RoundfoldError('store', message, { remedy: 'Requests go on without it until it does.' }));
  }, STORE_PATIENCE_MS);
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    cancel();
  }
}
