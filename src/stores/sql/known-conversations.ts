import { TOUCH_AFTER_MS } from '../last-use.ts';
import type { BigInteger } from './tables.ts';

/** With more, all of them are looked up again. */
const MAXIMUM_CONVERSATIONS = 1000;

interface KnownConversation {
  /** As it stands in its column. */
  readonly name: string;
  readonly usedAt: number;
}

/**
 * What conversations were called when they were last seen, so that nobody looks them up with each of their records. A row
 * may have been given to another conversation since: a name from here must be proven by a record that bears it.
 */
export class KnownConversations {
  readonly #now: () => number;
  readonly #byRow = new Map<BigInteger, KnownConversation>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(row: BigInteger, conversation: KnownConversation): void {
    if (this.#byRow.size >= MAXIMUM_CONVERSATIONS) this.#byRow.clear();
    this.#byRow.set(row, conversation);
  }

  /** Its name, unless its last use is to be written down again. That it was used since by others does no harm. */
  nameOf(row: BigInteger): string | undefined {
    const known = this.#byRow.get(row);
    return known === undefined || known.usedAt < this.#now() - TOUCH_AFTER_MS ? undefined : known.name;
  }
}
