import fc from 'fast-check';
import { expect } from 'vitest';
import type { CommitResult, Lease, Store } from '../../src/stores/store.ts';
import { checkpointOf, lookupOf, spanOf, trueOf } from './store-records.ts';

/** What a store should hold: plain maps, and the rules in their plainest form. */
export interface StoreModel {
  now: number;
  fence: number;
  readonly conversations: Map<string, { usedAt: number; forgotten: number; boundaries: Set<number> }>;
  readonly leases: Map<string, { readonly owner: string; readonly fence: number; expiresAt: number }>;
  /** Leases that were ever given, by the number that the commands know them by. */
  readonly given: Lease[];
}

/** The store under test, with its clock. */
export interface StoreUnderTest {
  readonly store: Store;
  readonly clock: { now: number };
  readonly tenant: string;
}

export function emptyModel(now: number): StoreModel {
  return { now, fence: 0, conversations: new Map(), leases: new Map(), given: [] };
}

const MINUTE = 60_000;
const TOUCH_AFTER = 5 * MINUTE;

type StoreCommand = fc.AsyncCommand<StoreModel, StoreUnderTest>;

function touch(model: StoreModel, conversation: string) {
  const entry = model.conversations.get(conversation) ?? {
    usedAt: model.now,
    forgotten: 0,
    boundaries: new Set<number>(),
  };
  if (entry.usedAt < model.now - TOUCH_AFTER) entry.usedAt = model.now;
  model.conversations.set(conversation, entry);
  return entry;
}

function command(name: string, run: StoreCommand['run']): StoreCommand {
  return { check: () => true, run, toString: () => name };
}

function recordsOf(tenant: string, conversation: string, boundary: number) {
  const chain = `${conversation}-${boundary}`;
  const checkpoint = checkpointOf({ tenant, conversation, chain, boundary });
  const span = spanOf({
    tenant,
    conversation,
    handle: `rf:${chain}`,
    start: boundary,
    text: `word${boundary}`,
  });
  return { checkpoint, span };
}

function pass(milliseconds: number): StoreCommand {
  return command(`pass(${milliseconds})`, async (model, { clock }) => {
    model.now += milliseconds;
    clock.now += milliseconds;
  });
}

function acquire(conversation: string, owner: string, milliseconds: number): StoreCommand {
  return command(`acquire(${conversation}, ${owner}, ${milliseconds})`, async (model, { store, tenant }) => {
    const lease = await store.acquire({ tenant, key: conversation, owner, milliseconds });
    const current = model.leases.get(conversation);
    if (current !== undefined && current.owner !== owner && model.now < current.expiresAt) {
      expect(lease).toBeUndefined();
      return;
    }
    if (lease === undefined) throw new Error('a free lease was refused');
    expect(lease.fence).toBeGreaterThan(model.fence);
    expect(lease.expiresAt).toBe(model.now + milliseconds);
    model.fence = lease.fence;
    model.leases.set(conversation, lease);
    model.given.push(lease);
  });
}

function isCurrent(model: StoreModel, lease: Lease): boolean {
  const current = model.leases.get(lease.key);
  return current?.fence === lease.fence && model.now < current.expiresAt;
}

/** A command about one of the leases that were given. */
function withLease(
  name: string,
  index: number,
  run: (lease: Lease, ...rest: Parameters<StoreCommand['run']>) => Promise<void>,
) {
  const found = ({ given }: StoreModel) => given.at(-1 - (index % Math.max(1, given.length)));
  return {
    check: (model: Readonly<StoreModel>) => model.given.length > 0,
    run: async (model: StoreModel, real: StoreUnderTest) => {
      const lease = found(model);
      if (lease !== undefined) await run(lease, model, real);
    },
    toString: () => `${name}, lease ${index} from the end`,
  };
}

function renew(index: number, milliseconds: number): StoreCommand {
  return withLease(`renew(${milliseconds})`, index, async (lease, model, { store }) => {
    const renewed = await store.renew(lease, milliseconds);
    if (!isCurrent(model, lease)) return expect(renewed).toBeUndefined();
    expect(renewed).toMatchObject({ fence: lease.fence, expiresAt: model.now + milliseconds });
    model.leases.set(lease.key, { ...lease, expiresAt: model.now + milliseconds });
  });
}

function release(index: number): StoreCommand {
  return withLease('release', index, async (lease, model, { store }) => {
    await store.release(lease);
    if (model.leases.get(lease.key)?.fence === lease.fence) model.leases.delete(lease.key);
  });
}

function commit(index: number, boundary: number): StoreCommand {
  return withLease(`commit(${boundary})`, index, async (lease, model, { store, tenant }) => {
    const { checkpoint, span } = recordsOf(tenant, lease.key, boundary);
    const result = await store.commit({ checkpoint, spans: [span], lease });
    expect(result).toBe(expectedResult(model, lease, boundary));
  });
}

function expectedResult(model: StoreModel, lease: Lease, boundary: number): CommitResult {
  if (!isCurrent(model, lease)) return 'fenced';
  const entry = touch(model, lease.key);
  if (entry.forgotten > lease.fence) return 'forgotten';
  if (entry.boundaries.has(boundary)) return 'known';
  entry.boundaries.add(boundary);
  return 'committed';
}

function find(conversation: string, boundaries: readonly number[]): StoreCommand {
  return command(`find(${conversation}, ${boundaries})`, async (model, { store, tenant }) => {
    const records = boundaries.map((boundary) => recordsOf(tenant, conversation, boundary).checkpoint);
    const found = await store.find({
      ...lookupOf(checkpointOf({ tenant, conversation })),
      ...trueOf(records),
    });
    const known = boundaries.filter((boundary) =>
      model.conversations.get(conversation)?.boundaries.has(boundary),
    );
    if (known.length === 0) return expect(found).toBeUndefined();
    expect(found).toStrictEqual(recordsOf(tenant, conversation, Math.max(...known)).checkpoint);
    touch(model, conversation);
  });
}

function recallAndSearch(conversation: string, boundary: number): StoreCommand {
  return command(`recallAndSearch(${conversation}, ${boundary})`, async (model, { store, tenant }) => {
    const { span } = recordsOf(tenant, conversation, boundary);
    const isKnown = model.conversations.get(conversation)?.boundaries.has(boundary) ?? false;
    const found = await store.recall({ tenant, handle: span.handle });
    expect(found).toStrictEqual(isKnown ? span : undefined);
    const matches = await store.search({ tenant, conversation, words: `WORD${boundary}`, limit: 5 });
    expect(matches.map(({ start }) => start)).toEqual(isKnown ? [boundary] : []);
    if (isKnown) touch(model, conversation);
  });
}

function forget(conversation: string): StoreCommand {
  return command(`forget(${conversation})`, async (model, { store, tenant }) => {
    const entry = touch(model, conversation);
    expect(await store.forget({ tenant, conversation })).toBe(2 * entry.boundaries.size);
    entry.boundaries.clear();
    entry.usedAt = model.now;
    // All fences given so far are below it, and all to come are above.
    entry.forgotten = model.fence + 0.5;
  });
}

function collect(unusedMilliseconds: number): StoreCommand {
  return command(`collect(${unusedMilliseconds})`, async (model, { store }) => {
    let expected = 0;
    for (const entry of model.conversations.values()) {
      if (entry.usedAt >= model.now - unusedMilliseconds) continue;
      expected += 2 * entry.boundaries.size;
      entry.boundaries.clear();
    }
    expect(await store.collect({ unusedMilliseconds })).toBe(expected);
    for (const [key, { expiresAt }] of model.leases) if (expiresAt <= model.now) model.leases.delete(key);
  });
}

function collectBySize(keep: number): StoreCommand {
  return command(`collectBySize(${keep})`, async (_model, { store, tenant }) => {
    const before = await store.list({ tenant });
    const kept = before.slice(0, keep);
    const maximumBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    await store.collect({ maximumBytes });
    expect(await store.list({ tenant })).toEqual(kept);
    for (const { conversation } of before.slice(keep))
      _model.conversations.get(conversation)?.boundaries.clear();
  });
}

function list(): StoreCommand {
  return command('list', async (model, { store, tenant }) => {
    const expected = [...model.conversations]
      .filter(([, { boundaries }]) => boundaries.size > 0)
      .map(([conversation, { boundaries, usedAt }]) => ({
        conversation,
        checkpoints: boundaries.size,
        spans: boundaries.size,
        usedAt,
      }))
      .sort((left, right) => right.usedAt - left.usedAt || (left.conversation < right.conversation ? -1 : 1));
    const found = await store.list({ tenant });
    expect(
      found.map(({ conversation, checkpoints, spans, usedAt }) => ({
        conversation,
        checkpoints,
        spans,
        usedAt,
      })),
    ).toEqual(expected);
    expect(await store.verify()).toEqual([]);
  });
}

/** Series of everything that a store can be asked. */
export function storeCommands(): fc.Arbitrary<Iterable<StoreCommand>> {
  const conversation = fc.constantFrom('a', 'b');
  const boundary = fc.integer({ min: 1, max: 4 });
  const time = fc.constantFrom(1, MINUTE, 4 * MINUTE, 30 * MINUTE);
  const owner = fc.constantFrom('one', 'two');
  return fc.commands(
    [
      time.map(pass),
      fc.tuple(conversation, owner, time).map((values) => acquire(...values)),
      fc.tuple(conversation, owner, time).map((values) => acquire(...values)),
      fc.tuple(fc.nat(2), time).map((values) => renew(...values)),
      fc.nat(2).map(release),
      fc.tuple(fc.nat(1), boundary).map((values) => commit(...values)),
      fc.tuple(fc.nat(1), boundary).map((values) => commit(...values)),
      fc.tuple(conversation, fc.array(boundary, { maxLength: 4 })).map((values) => find(...values)),
      fc.tuple(conversation, boundary).map((values) => recallAndSearch(...values)),
      conversation.map(forget),
      time.map(collect),
      fc.nat(2).map(collectBySize),
      fc.constant(list()),
    ],
    { maxCommands: 60 },
  );
}
