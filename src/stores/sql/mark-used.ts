import { allRows, type Operation } from './operation.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/** What a row says of the last use of its conversation. */
export interface UseOfConversation {
  readonly conversation_id: BigInteger;
  readonly used_at: BigInteger;
  readonly stale: number;
}

/** When the conversation was used last: where that was a while ago, now, and it is written down. */
export function* markUsed(
  work: Work,
  { conversation_id, used_at, stale }: UseOfConversation,
): Operation<number> {
  const touchedAt = stale === 1 ? yield* touch(work, conversation_id) : undefined;
  return touchedAt ?? Number(used_at);
}

/** Reading is worth more than knowing when it was: a touch that fails is no failure. */
export function* touch({ statements }: Work, id: BigInteger): Operation<number | undefined> {
  try {
    const [touched] = yield* allRows(statements.touch, { id });
    return touched === undefined ? undefined : Number(touched.used_at);
  } catch {
    // The next reader tries again.
    return undefined;
  }
}
