import type { Checkpoint } from './checkpoint.ts';
import { TOUCH_AFTER_MS } from './last-use.ts';
import { isHeld, type LeaseTime, leaseDuration } from './lease-time.ts';
import {
  type ConversationEntry,
  describeEntry,
  keyOf,
  readStoredCheckpoint,
  readStoredSpan,
  recordCount,
  storedCheckpoint,
  storedSpan,
} from './memory-tables.ts';
import type { StoreOptions } from './options.ts';
import { byLastUse, byPlace } from './order.ts';
import { admitCommit, admitRecords } from './record/admission.ts';
import { linkText } from './record/identity.ts';
import { conversationsToCollect } from './retention.ts';
import { excerptOf, hasWords, searchWords } from './search-words.ts';
import type { ArchivedSpan, ConversationKey, Lease, Store, StoreRecord } from './store.ts';

/** A store that ends with the process. */
export function memoryStore(options: Pick<StoreOptions, 'now'> = {}): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  readonly name = 'memory';
  readonly #now: () => number;
  readonly #conversations = new Map<string, ConversationEntry>();
  readonly #leases = new Map<string, Lease & LeaseTime>();
  #fence = 0;

  constructor({ now = Date.now }: Pick<StoreOptions, 'now'>) {
    this.#now = () => Math.floor(now());
  }

  async find({ tenant, configuration, conversations, from, to, isTrue }: Parameters<Store['find']>[0]) {
    const found = conversations
      .flatMap((name) => this.#conversations.get(keyOf(tenant, name)) ?? [])
      .flatMap((entry) => [...entry.checkpoints.values()].map((stored) => ({ entry, stored })))
      .filter(({ stored: { place } }) => place.configuration === configuration)
      .filter(({ stored: { place } }) => place.boundary >= from && place.boundary <= to)
      .sort((left, right) => right.stored.place.boundary - left.stored.place.boundary)
      .find(({ stored }) => isTrue(stored.place));
    if (found === undefined) return undefined;
    this.#touch(found.entry);
    return readStoredCheckpoint(found.stored);
  }

  async commit(commit: Parameters<Store['commit']>[0]) {
    admitCommit(commit);
    const { checkpoint, spans, lease } = commit;
    if (!this.#isCurrent(lease)) return 'fenced';
    const entry = this.#entryOf(checkpoint);
    this.#touch(entry);
    if (entry.forgottenFence > lease.fence) return 'forgotten';
    const isNew = this.#put({ checkpoint });
    for (const span of spans) this.#put({ span });
    return isNew ? 'committed' : 'known';
  }

  async acquire({ tenant, key, owner, milliseconds }: Parameters<Store['acquire']>[0]) {
    const duration = leaseDuration(milliseconds);
    const name = keyOf(tenant, key);
    const now = this.#now();
    const current = this.#leases.get(name);
    if (current !== undefined && current.owner !== owner && isHeld(current, now)) return undefined;
    this.#fence++;
    const lease = { tenant, key, owner, fence: this.#fence, expiresAt: now + duration };
    this.#leases.set(name, { ...lease, takenAt: now });
    return lease;
  }

  async renew(lease: Lease, milliseconds: number) {
    const duration = leaseDuration(milliseconds);
    if (!this.#isCurrent(lease)) return undefined;
    const now = this.#now();
    const renewed = { ...lease, expiresAt: now + duration };
    this.#leases.set(keyOf(lease.tenant, lease.key), { ...renewed, takenAt: now });
    return renewed;
  }

  async release(lease: Lease) {
    const key = keyOf(lease.tenant, lease.key);
    if (this.#leases.get(key)?.fence === lease.fence) this.#leases.delete(key);
  }

  async recall({ tenant, handle }: Parameters<Store['recall']>[0]) {
    const [first] = [...this.#conversations.values()]
      .filter((entry) => entry.tenant === tenant)
      .flatMap((entry) => [...entry.spans.values()].map((stored) => ({ entry, ...stored })))
      .filter(({ place }) => place.handle === handle)
      // Sorting is stable: then the conversation that was there first.
      .sort((left, right) => left.place.start - right.place.start);
    if (first === undefined) return undefined;
    this.#touch(first.entry);
    return readStoredSpan(first);
  }

  async search({ words, limit, ...key }: Parameters<Store['search']>[0]) {
    const wanted = searchWords(words);
    if (wanted.size === 0) return [];
    const spans = (await this.spans(key)).filter(({ text }) => hasWords(text, wanted));
    if (spans.length > 0) this.#touch(this.#entryOf(key));
    return spans
      .slice(0, limit)
      .map(({ handle, start, end, text }) => ({ handle, start, end, excerpt: excerptOf(text, wanted) }));
  }

  async list({ tenant }: { readonly tenant?: string | undefined } = {}) {
    return this.#describe().filter((found) => tenant === undefined || found.tenant === tenant);
  }

  async checkpoints({ tenant, conversation }: ConversationKey) {
    const entry = this.#conversations.get(keyOf(tenant, conversation));
    return [...(entry?.checkpoints.values() ?? [])]
      .map(readStoredCheckpoint)
      .sort((left, right) => left.boundary - right.boundary);
  }

  async spans({ tenant, conversation }: ConversationKey) {
    const entry = this.#conversations.get(keyOf(tenant, conversation));
    return [...(entry?.spans.values() ?? [])].map(readStoredSpan).sort(byPlace);
  }

  async restore(records: StoreRecord | readonly StoreRecord[]) {
    const list = [records].flat();
    admitRecords(list);
    for (const record of list) this.#put(record);
  }

  async forget({ tenant, conversation }: ConversationKey) {
    const entry = this.#entryOf({ tenant, conversation });
    this.#fence++;
    entry.forgottenFence = this.#fence;
    entry.createdAt = this.#now();
    entry.usedAt = entry.createdAt;
    return this.#empty(entry);
  }

  async collect(retention: Parameters<Store['collect']>[0]) {
    const now = this.#now();
    let removed = 0;
    for (const { tenant, conversation } of conversationsToCollect(this.#describe(), retention, now)) {
      removed += this.#empty(this.#entryOf({ tenant, conversation }));
    }
    for (const [key, lease] of this.#leases) if (!isHeld(lease, now)) this.#leases.delete(key);
    this.#removeTombstones();
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

  #describe() {
    return [...this.#conversations.values()]
      .filter((entry) => recordCount(entry) > 0)
      .map(describeEntry)
      .sort(byLastUse);
  }

  #entryOf({ tenant, conversation }: ConversationKey): ConversationEntry {
    const key = keyOf(tenant, conversation);
    const known = this.#conversations.get(key);
    if (known !== undefined) return known;
    const now = this.#now();
    const entry = {
      tenant,
      conversation,
      createdAt: now,
      usedAt: now,
      forgottenFence: 0,
      checkpoints: new Map(),
      spans: new Map(),
    };
    this.#conversations.set(key, entry);
    return entry;
  }

  #touch(entry: ConversationEntry): void {
    const now = this.#now();
    if (entry.usedAt < now - TOUCH_AFTER_MS) entry.usedAt = now;
  }

  /** Whether it was new. */
  #put(record: StoreRecord): boolean {
    const entry = this.#entryOf('checkpoint' in record ? record.checkpoint : record.span);
    this.#touch(entry);
    return 'checkpoint' in record ? putCheckpoint(entry, record.checkpoint) : putSpan(entry, record.span);
  }

  /** Removes its records. */
  #empty(entry: ConversationEntry): number {
    const removed = recordCount(entry);
    entry.checkpoints.clear();
    entry.spans.clear();
    return removed;
  }

  /** An empty entry is needed as long as a lease from before could still write. */
  #removeTombstones(): void {
    const fences = [...this.#leases.values()].map(({ fence }) => fence);
    const oldest = Math.min(...fences);
    for (const [key, entry] of this.#conversations) {
      if (recordCount(entry) === 0 && entry.forgottenFence <= oldest) this.#conversations.delete(key);
    }
  }
}

/** Whether it was new. */
function putCheckpoint(entry: ConversationEntry, checkpoint: Checkpoint): boolean {
  const key = keyOf(checkpoint.configuration, linkText(checkpoint));
  if (entry.checkpoints.has(key)) return false;
  entry.checkpoints.set(key, storedCheckpoint(checkpoint));
  return true;
}

/** Whether it was new. */
function putSpan(entry: ConversationEntry, span: ArchivedSpan): boolean {
  const key = keyOf(span.handle, String(span.start));
  if (entry.spans.has(key)) return false;
  entry.spans.set(key, storedSpan(span));
  return true;
}
