import type { ArchivedSpan, Checkpoint, Lease, Store } from '../../src/stores/store.ts';

/** A store in a map that fails when it is told to, and the records it holds. */
export interface MapStore extends Store {
  readonly records: ReadonlyMap<string, Checkpoint>;
  readonly archived: ReadonlyMap<string, ArchivedSpan>;
}

export interface MapStoreOptions {
  readonly now: () => number;
  /** Whether the next operation fails. */
  readonly fails?: ((operation: string) => boolean) | undefined;
}

/** Everything is kept as JSON, as a database would: nothing that comes back is what was put in. */
export function mapStore({ now, fails = () => false }: MapStoreOptions): MapStore {
  const texts = new Map<string, string>();
  const archived = new Map<string, ArchivedSpan>();
  const leases = new Map<string, Lease>();
  const records = new Map<string, Checkpoint>();
  let fence = 0;
  const check = (operation: string) => {
    if (fails(operation)) throw new Error(`the store failed to ${operation}`);
  };
  const keyOf = (tenant: string, configuration: string, chain: string) =>
    `${tenant}\n${configuration}\n${chain}`;
  const current = (lease: Lease) => leases.get(`${lease.tenant}\n${lease.key}`);
  const unused = async (): Promise<never> => {
    throw new Error('nobody needs this here');
  };
  return {
    name: 'map',
    records,
    archived,
    async find({ tenant, configuration, conversations, from, to, isTrue }) {
      check('find');
      return [...texts.values()]
        .map((text) => JSON.parse(text) as Checkpoint)
        .filter((checkpoint) => checkpoint.tenant === tenant && checkpoint.configuration === configuration)
        .filter(({ conversation }) => conversations.includes(conversation))
        .filter(({ boundary }) => boundary >= from && boundary <= to)
        .sort((left, right) => right.boundary - left.boundary)
        .find(isTrue);
    },
    async commit({ checkpoint, spans, lease }) {
      check('commit');
      if (current(lease)?.fence !== lease.fence) return 'fenced';
      const key = keyOf(checkpoint.tenant, checkpoint.configuration, checkpoint.chain);
      if (texts.has(key)) return 'known';
      texts.set(key, JSON.stringify(checkpoint));
      records.set(key, checkpoint);
      for (const span of spans) archived.set(`${span.tenant}\n${span.handle}`, span);
      return 'committed';
    },
    async acquire({ tenant, key, owner, milliseconds }) {
      check('acquire');
      const held = leases.get(`${tenant}\n${key}`);
      if (held !== undefined && held.expiresAt > now() && held.owner !== owner) return undefined;
      fence++;
      const lease = { tenant, key, owner, fence, expiresAt: now() + milliseconds };
      leases.set(`${tenant}\n${key}`, lease);
      return lease;
    },
    async renew(lease, milliseconds) {
      check('renew');
      if (current(lease)?.fence !== lease.fence) return undefined;
      const renewed = { ...lease, expiresAt: now() + milliseconds };
      leases.set(`${lease.tenant}\n${lease.key}`, renewed);
      return renewed;
    },
    async release(lease) {
      check('release');
      if (current(lease)?.fence === lease.fence) leases.delete(`${lease.tenant}\n${lease.key}`);
    },
    recall: async ({ tenant, handle }) => archived.get(`${tenant}\n${handle}`),
    search: unused,
    list: unused,
    checkpoints: unused,
    spans: unused,
    restore: unused,
    forget: unused,
    wishes: unused,
    wish: unused,
    erase: unused,
    collect: unused,
    verify: unused,
    async close() {},
  };
}
