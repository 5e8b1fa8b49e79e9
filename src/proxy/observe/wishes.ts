import { later } from '../../compaction/watch.ts';
import { inTime } from '../../keeper/in-time.ts';
import { Recent } from '../../keeper/recent.ts';
import type { ConversationKey, ConversationWishes, Store, Wishes } from '../../stores/store.ts';

export interface WishOptions {
  readonly store: Store;
  /** Milliseconds, of a clock that is never set back. */
  readonly now?: (() => number) | undefined;
}

/**
 * What people have asked for conversations: which fold is undone, and which messages stay. It is in the store, so that every
 * proxy on it knows.
 */
export interface WishBook {
  /**
   * Everything that is asked for conversations of a tenant, as the store had it a second ago or later. What was known
   * before, while the store does not answer.
   */
  of(tenant: string): Promise<readonly ConversationWishes[]>;
  /** What was known last, without asking. */
  latest(tenant: string): readonly ConversationWishes[];
  /**
   * Asks for something else, from the next request on. Undefined when nothing of the conversation is stored.
   * @throws RoundfoldError `store` when the store does not take it; nothing has changed then
   */
  change(key: ConversationKey, change: (now: Wishes) => Wishes): Promise<Wishes | undefined>;
}

/** So long a request goes by what was known: one more query for each would cost more than a person's second. */
const KNOWN_FOR_MS = 1000;
const REMEMBERED_TENANTS = 5000;

interface Known {
  readonly wishes: readonly ConversationWishes[];
  readonly askedAt: number;
}

/** Opens the book of wishes of a store. */
export function createWishes({ store, now = () => performance.now() }: WishOptions): WishBook {
  const known = new Recent<string, Known>(REMEMBERED_TENANTS);
  const asking = new Map<string, Promise<readonly ConversationWishes[]>>();
  const latest = (tenant: string) => known.get(tenant)?.wishes ?? [];

  const ask = (tenant: string): Promise<readonly ConversationWishes[]> => {
    const askedAt = now();
    // A store that fails is not asked again for every request, each of which would wait for it.
    const asked = inTime(store.wishes(tenant), later)
      .catch(() => latest(tenant))
      .then((wishes) => {
        // An answer from before a change is not remembered.
        if (asking.get(tenant) === asked) {
          known.use(tenant, { wishes, askedAt });
          asking.delete(tenant);
        }
        return wishes;
      });
    asking.set(tenant, asked);
    return asked;
  };

  return {
    latest,
    async of(tenant) {
      const last = known.get(tenant);
      if (last !== undefined && now() - last.askedAt < KNOWN_FOR_MS) return last.wishes;
      return asking.get(tenant) ?? ask(tenant);
    },
    async change(key, change) {
      const wishes = await store.wish(key, change);
      await ask(key.tenant);
      return wishes;
    },
  };
}
