import {
  admitCommit,
  admitRecords,
  checkpointsIn,
  nameInColumn,
  placeOf,
  type RecordPlace,
  spansIn,
} from './records.ts';
import {
  byLastUse,
  byPlace,
  conversationsToCollect,
  isHeld,
  isStale,
  type LeaseTime,
  leaseDuration,
} from './rules.ts';
import { hasWords, matchOf, searchWords } from './search.ts';
import type {
  Checkpoint,
  ConversationKey,
  Lease,
  Store,
  StoredConversation,
  StoreOptions,
  StoreRecord,
} from './store.ts';
import { wishesFromColumn, wishesInColumn } from './wishes.ts';

interface Stored {
  readonly place: RecordPlace;
  /** A copy, and read as a copy, so that nobody can change what is kept. */
  readonly record: StoreRecord;
  readonly bytes: number;
}

/** Everything that is kept of one conversation. */
interface Entry extends ConversationKey {
  createdAt: number;
  usedAt: number;
  /** Leases with a smaller fence may not write. */
  forgottenFence: number;
  /** As databases have them. */
  wishes: string;
  readonly records: Map<string, Stored>;
}

/** A store that ends with the process. */
export function memoryStore(options: Pick<StoreOptions, 'now'> = {}): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  readonly name = 'memory';
  readonly #now: () => number;
  readonly #conversations = new Map<string, Entry>();
  readonly #leases = new Map<string, Lease & LeaseTime>();
  #fence = 0;

  constructor({ now = Date.now }: Pick<StoreOptions, 'now'>) {
    this.#now = () => Math.floor(now());
  }

  async find(lookup: Parameters<Store['find']>[0]) {
    const { tenant, configuration, conversations, from, to, isTrue, known } = lookup;
    const found = conversations
      .flatMap((conversation) => this.#storedOf({ tenant, conversation }, 'checkpoint'))
      .filter(({ place }) => place.scope === configuration)
      .filter(({ place }) => place.position >= from && place.position <= to)
      .sort((left, right) => right.place.position - left.place.position)
      .find(({ place }) => isTrue({ chain: place.name, boundary: place.position }));
    if (found === undefined) return undefined;
    this.#touch(found.place);
    if (known?.chain === found.place.name) return known;
    return checkpointsIn([read(found)])[0];
  }

  async commit(commit: Parameters<Store['commit']>[0]) {
    admitCommit(commit);
    const { checkpoint, spans, lease } = commit;
    if (!this.#isCurrent(lease)) return 'fenced';
    if (this.#touch(checkpoint).forgottenFence > lease.fence) return 'forgotten';
    const isNew = this.#put({ checkpoint });
    for (const span of spans) this.#put({ span });
    return isNew ? 'committed' : 'known';
  }

  async acquire({ tenant, key, owner, milliseconds }: Parameters<Store['acquire']>[0]) {
    const duration = leaseDuration(milliseconds);
    const now = this.#now();
    const current = this.#leases.get(keyOf(tenant, key));
    if (current !== undefined && current.owner !== owner && isHeld(current, now)) return undefined;
    this.#fence++;
    return this.#hold({ tenant, key, owner, fence: this.#fence, expiresAt: now + duration }, now);
  }

  async renew(lease: Lease, milliseconds: number) {
    const duration = leaseDuration(milliseconds);
    const now = this.#now();
    return this.#isCurrent(lease) ? this.#hold({ ...lease, expiresAt: now + duration }, now) : undefined;
  }

  async release(lease: Lease) {
    const key = keyOf(lease.tenant, lease.key);
    if (this.#leases.get(key)?.fence === lease.fence) this.#leases.delete(key);
  }

  async recall({ tenant, handle }: Parameters<Store['recall']>[0]) {
    const [first] = [...this.#conversations.values()]
      .filter((entry) => entry.tenant === tenant)
      .flatMap((entry) => this.#storedOf(entry, 'span'))
      .filter(({ place }) => place.name === handle)
      // Sorting is stable: then the conversation that was there first.
      .sort((left, right) => left.place.position - right.place.position);
    if (first === undefined) return undefined;
    this.#touch(first.place);
    return spansIn([read(first)])[0];
  }

  async search({ words, limit, ...key }: Parameters<Store['search']>[0]) {
    const wanted = searchWords(words);
    if (wanted.size === 0) return [];
    const spans = (await this.spans(key)).filter(({ text }) => hasWords(text, wanted));
    if (spans.length > 0) this.#touch(key);
    return spans.slice(0, limit).map((span) => matchOf(span, wanted));
  }

  async list({ tenant }: { readonly tenant?: string | undefined } = {}) {
    return this.#describe().filter((found) => tenant === undefined || found.tenant === tenant);
  }

  async checkpoints(key: ConversationKey) {
    const found = checkpointsIn(this.#storedOf(key, 'checkpoint').map(read));
    return found.sort((left, right) => left.boundary - right.boundary);
  }

  async spans(key: ConversationKey) {
    return spansIn(this.#storedOf(key, 'span').map(read)).sort(byPlace);
  }

  async restore(records: StoreRecord | readonly StoreRecord[]) {
    const list = [records].flat();
    admitRecords(list);
    for (const record of list) this.#put(record);
  }

  async forget(key: ConversationKey) {
    const entry = this.#touch(key);
    this.#fence++;
    entry.forgottenFence = this.#fence;
    entry.createdAt = this.#now();
    entry.usedAt = entry.createdAt;
    return this.#empty(key);
  }

  async wishes(tenant: string) {
    return [...this.#conversations.values()]
      .filter((entry) => entry.tenant === tenant && entry.wishes !== '')
      .map(({ conversation, wishes }) => ({ ...wishesFromColumn(wishes), conversation }));
  }

  async wish({ tenant, conversation }: ConversationKey, change: Parameters<Store['wish']>[1]) {
    const entry = this.#conversations.get(keyOf(tenant, conversation));
    if (entry === undefined || entry.records.size === 0) return undefined;
    entry.wishes = wishesInColumn(change(wishesFromColumn(entry.wishes)));
    return wishesFromColumn(entry.wishes);
  }

  async erase(tenant: string) {
    let removed = 0;
    for (const [key, entry] of this.#conversations) {
      if (entry.tenant !== tenant) continue;
      removed += entry.records.size;
      this.#conversations.delete(key);
    }
    for (const [key, lease] of this.#leases) if (lease.tenant === tenant) this.#leases.delete(key);
    return removed;
  }

  async collect(retention: Parameters<Store['collect']>[0]) {
    const now = this.#now();
    let removed = 0;
    for (const key of conversationsToCollect(this.#describe(), retention, now)) removed += this.#empty(key);
    for (const [key, lease] of this.#leases) if (!isHeld(lease, now)) this.#leases.delete(key);
    // An empty entry is needed as long as a lease from before could still write.
    const oldest = Math.min(...[...this.#leases.values()].map(({ fence }) => fence));
    for (const [key, { records, forgottenFence }] of this.#conversations) {
      if (records.size === 0 && forgottenFence <= oldest) this.#conversations.delete(key);
    }
    return removed;
  }

  async verify() {
    return [];
  }

  async close() {
    this.#conversations.clear();
    this.#leases.clear();
  }

  #isCurrent(lease: Lease): boolean {
    const current = this.#leases.get(keyOf(lease.tenant, lease.key));
    return current?.fence === lease.fence && isHeld(current, this.#now());
  }

  #hold(lease: Lease, takenAt: number): Lease {
    this.#leases.set(keyOf(lease.tenant, lease.key), { ...lease, takenAt });
    return lease;
  }

  #describe(): readonly StoredConversation[] {
    return [...this.#conversations.values()]
      .filter(({ records }) => records.size > 0)
      .map((entry) => ({
        tenant: entry.tenant,
        conversation: entry.conversation,
        checkpoints: this.#storedOf(entry, 'checkpoint').length,
        spans: this.#storedOf(entry, 'span').length,
        bytes: [...entry.records.values()].reduce((sum, { bytes }) => sum + bytes, 0),
        createdAt: entry.createdAt,
        usedAt: entry.usedAt,
      }))
      .sort(byLastUse);
  }

  #storedOf({ tenant, conversation }: ConversationKey, kind: RecordPlace['kind']): readonly Stored[] {
    const entry = this.#conversations.get(keyOf(tenant, conversation));
    return [...(entry?.records.values() ?? [])].filter(({ place }) => place.kind === kind);
  }

  /** The entry of a conversation, made if there is none, and marked as used. */
  #touch({ tenant, conversation }: ConversationKey): Entry {
    const key = keyOf(tenant, conversation);
    const now = this.#now();
    const fresh = {
      tenant,
      conversation,
      createdAt: now,
      usedAt: now,
      forgottenFence: 0,
      wishes: '',
      records: new Map(),
    };
    const entry = this.#conversations.get(key) ?? fresh;
    if (isStale(entry.usedAt, now)) entry.usedAt = now;
    this.#conversations.set(key, entry);
    return entry;
  }

  /** Whether it was new. */
  #put(record: StoreRecord): boolean {
    const place = placeOf(record);
    const { records } = this.#touch(place);
    const key = keyOf(place.kind, place.scope, place.name, String(place.position));
    if (records.has(key)) return false;
    records.set(key, { place, record: copyOf(record), bytes: sizeOf(record) });
    return true;
  }

  /** Removes the records of a conversation, and what is asked for it. How many there were. */
  #empty({ tenant, conversation }: ConversationKey): number {
    const entry = this.#conversations.get(keyOf(tenant, conversation));
    const removed = entry?.records.size ?? 0;
    entry?.records.clear();
    if (entry !== undefined) entry.wishes = '';
    return removed;
  }
}

/** A text that no other list of names makes. Refuses what other stores refuse. */
function keyOf(...names: readonly string[]): string {
  return JSON.stringify(names.map(nameInColumn));
}

function read({ record }: Stored): StoreRecord {
  return copyOf(record);
}

/** A checkpoint comes back as other stores give it, through JSON. Spans are large: of them only the bytes can be changed. */
function copyOf(record: StoreRecord): StoreRecord {
  if ('span' in record) return { span: { ...record.span, body: record.span.body.slice() } };
  const copy: Checkpoint = JSON.parse(JSON.stringify(record.checkpoint));
  // JSON leaves out what is undefined; the types have it.
  return {
    checkpoint: { ...copy, parent: copy.parent, state: { ...copy.state, reason: copy.state.reason } },
  };
}

function sizeOf(record: StoreRecord): number {
  if ('checkpoint' in record) return JSON.stringify(record.checkpoint).length;
  return record.span.body.length + record.span.text.length;
}
