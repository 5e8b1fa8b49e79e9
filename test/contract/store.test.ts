import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import type { ChainLink, Checkpoint, Store } from '../../src/stores/store.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { storeBench, storeCases } from '../support/store-cases.ts';
import { checkpointOf, commitAlone, leaseOf, lookupOf, spanOf, trueOf } from '../support/store-records.ts';

const MINUTE = 60_000;
const bench = storeBench();
afterAll(() => bench.end());

describe.each(storeCases)('store $name', (storeCase) => {
  /** One database for all tests of a kind: each has a tenant of its own. */
  let store: Store;
  let now = 1_800_000_000_000;
  let tenants = 0;
  const newTenant = () => `tenant ${++tenants}`;
  beforeAll(async () => {
    store = await bench.open(storeCase, { now: () => now });
  });

  describe('find', () => {
    it('gives back what was committed', async () => {
      const checkpoint = deepFreeze(checkpointOf({ tenant: newTenant(), parent: 'chain-2' }));
      await commitAlone(store, checkpoint);
      expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    });

    it('takes the longest that is true, of several conversations too', async () => {
      const tenant = newTenant();
      const checkpoints = [3, 10, 9, 2, 20].map((boundary) =>
        checkpointOf({ tenant, boundary, conversation: boundary === 3 ? 'early' : 'late' }),
      );
      for (const checkpoint of checkpoints) await commitAlone(store, checkpoint);
      const [three, ten, nine, two] = checkpoints;
      const found = async (...those: (Checkpoint | undefined)[]) => {
        const isTrue = trueOf(those.filter((each) => each !== undefined));
        return (await store.find({ ...lookupOf(...checkpoints), ...isTrue }))?.boundary;
      };
      expect(await found(...checkpoints)).toBe(20);
      expect(await found(nine, three, ten)).toBe(10);
      expect(await found(three, two)).toBe(3);
      expect(await found(two)).toBe(2);
      expect(await found()).toBeUndefined();
    });

    it('answers with the very checkpoint the caller knows while it is there and the longest, and with no other', async () => {
      const tenant = newTenant();
      const [shorter, known, longer] = [2, 4, 6].map((boundary) => checkpointOf({ tenant, boundary }));
      if (shorter === undefined || known === undefined || longer === undefined) throw new Error('three');
      const lookup = { ...lookupOf(shorter, known, longer), known };
      expect(await store.find(lookup)).toBeUndefined();
      await commitAlone(store, shorter);
      expect(await store.find(lookup)).toStrictEqual(shorter);
      await commitAlone(store, known);
      expect(await store.find(lookup)).toBe(known);
      expect(await store.find({ ...lookup, isTrue: trueOf([shorter]).isTrue })).toStrictEqual(shorter);
      await commitAlone(store, longer);
      expect(await store.find(lookup)).toStrictEqual(longer);
      await store.forget(known);
      expect(await store.find(lookup)).toBeUndefined();
    });

    it('asks from the longest on, until one is true, and only between the ends', async () => {
      const tenant = newTenant();
      const checkpoints = [3, 10, 9, 2, 20, 8].map((boundary) => checkpointOf({ tenant, boundary }));
      for (const checkpoint of checkpoints) await commitAlone(store, checkpoint);
      const asked: number[] = [];
      const isTrue = ({ boundary, chain }: ChainLink) => {
        asked.push(boundary);
        return chain === 'chain-8';
      };
      const lookup = { ...lookupOf(...checkpoints), from: 3, to: 10, isTrue };
      expect((await store.find(lookup))?.boundary).toBe(8);
      expect(asked).toEqual([10, 9, 8]);
      expect(await store.find({ ...lookup, from: 9 })).toBeUndefined();
      expect(await store.find({ ...lookup, to: 7 })).toBeUndefined();
    });

    it.each([
      { why: 'another tenant', change: { tenant: 'somebody else' } },
      { why: 'another configuration', change: { configuration: 'another' } },
      { why: 'another conversation', change: { conversations: ['another'] } },
      { why: 'no conversation', change: { conversations: [] } },
      { why: 'another chain', change: trueOf([{ chain: 'chain-5', boundary: 4 }]) },
      { why: 'another boundary', change: trueOf([{ chain: 'chain-4', boundary: 5 }]) },
    ])('finds nothing for $why', async ({ change }) => {
      const checkpoint = checkpointOf({ tenant: newTenant() });
      await commitAlone(store, checkpoint);
      expect(await store.find({ ...lookupOf(checkpoint), ...change })).toBeUndefined();
    });

    it('finds one among hundreds', async () => {
      const tenant = newTenant();
      const checkpoints = Array.from({ length: 300 }, (_, index) =>
        checkpointOf({ tenant, boundary: index + 1 }),
      );
      await store.restore(checkpoints.map((checkpoint) => ({ checkpoint })));
      const wanted = checkpoints[123] as Checkpoint;
      expect(await store.find(lookupOf(wanted))).toStrictEqual(wanted);
    });
  });

  describe('commit', () => {
    it('keeps what is known', async () => {
      const checkpoint = checkpointOf({ tenant: newTenant() });
      await commitAlone(store, checkpoint);
      const lease = await leaseOf(store, 'conversation', checkpoint.tenant);
      const other = { ...checkpoint, parts: [], createdAt: 1 };
      expect(await store.commit({ checkpoint: other, spans: [], lease })).toBe('known');
      expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    });

    it('keeps the same prefix of two conversations apart', async () => {
      const tenant = newTenant();
      const [one, two] = ['one', 'two'].map((conversation) => checkpointOf({ tenant, conversation })) as [
        Checkpoint,
        Checkpoint,
      ];
      await commitAlone(store, one);
      await commitAlone(store, two);
      expect(await store.find(lookupOf(one))).toStrictEqual(one);
      expect(await store.find(lookupOf(two))).toStrictEqual(two);
      expect([one, two]).toContainEqual(await store.find(lookupOf(one, two)));
      expect(await store.forget(one)).toBe(1);
      expect(await store.find(lookupOf(one))).toBeUndefined();
      expect(await store.find(lookupOf(one, two))).toStrictEqual(two);
    });

    it('stores spans all with their checkpoint', async () => {
      const tenant = newTenant();
      const spans = [
        spanOf({ tenant, handle: 'rf:b', start: 5, end: 7 }),
        spanOf({ tenant, handle: 'rf:a', start: 1, end: 3 }),
        spanOf({ tenant, handle: 'rf:a', start: 9, end: 11 }),
      ];
      await commitAlone(store, checkpointOf({ tenant }), spans);
      const found = await store.spans({ tenant, conversation: 'conversation' });
      expect(found).toStrictEqual([spans[1], spans[0], spans[2]]);
      expect(await store.recall({ tenant, handle: 'rf:a' })).toStrictEqual(spans[1]);
      expect(await store.recall({ tenant: 'somebody else', handle: 'rf:a' })).toBeUndefined();
    });

    it('gives out bytes that are the caller’s own', async () => {
      const tenant = newTenant();
      const span = spanOf({ tenant });
      await commitAlone(store, checkpointOf({ tenant }), [span]);
      const read = [
        () => store.recall({ tenant, handle: span.handle }),
        async () => (await store.spans(span))[0],
      ];
      for (const call of read) {
        expect(await call()).toStrictEqual(span);
        (await call())?.body.fill(0);
        expect(await call()).toStrictEqual(span);
      }
    });

    it('recalls from the conversation that was there first when the place is the same', async () => {
      const tenant = newTenant();
      for (const conversation of ['m', 'z', 'a']) {
        const span = spanOf({ tenant, conversation, start: conversation === 'm' ? 2 : 1 });
        await commitAlone(store, checkpointOf({ tenant, conversation, chain: conversation }), [span]);
      }
      const recall = async () => (await store.recall({ tenant, handle: 'rf:1' }))?.conversation;
      expect(await recall()).toBe('z');
      await store.forget({ tenant, conversation: 'z' });
      expect(await recall()).toBe('a');
      await store.forget({ tenant, conversation: 'a' });
      expect(await recall()).toBe('m');
    });

    it('is fenced when somebody else has taken the lease', async () => {
      const checkpoint = checkpointOf({ tenant: newTenant() });
      const request = { tenant: checkpoint.tenant, key: 'key', milliseconds: MINUTE };
      const late = await store.acquire({ ...request, owner: 'late' });
      now += MINUTE;
      const next = await store.acquire({ ...request, owner: 'next' });
      if (late === undefined || next === undefined) throw new Error('no lease');
      expect(await store.commit({ checkpoint, spans: [], lease: late })).toBe('fenced');
      expect(await store.find(lookupOf(checkpoint))).toBeUndefined();
      expect(await store.commit({ checkpoint, spans: [], lease: next })).toBe('committed');
    });

    it('is fenced when the lease has run out or was released', async () => {
      const checkpoint = checkpointOf({ tenant: newTenant() });
      const expired = await leaseOf(store, 'one', checkpoint.tenant);
      now += MINUTE;
      expect(await store.commit({ checkpoint, spans: [], lease: expired })).toBe('fenced');
      const released = await leaseOf(store, 'two', checkpoint.tenant);
      await store.release(released);
      expect(await store.commit({ checkpoint, spans: [], lease: released })).toBe('fenced');
    });

    it.each([
      { why: 'a lease of another tenant', change: {}, span: {}, leaseTenant: 'other' },
      { why: 'a span of another tenant', change: {}, span: { tenant: 'other' } },
      { why: 'a span of another conversation', change: {}, span: { conversation: 'other' } },
      { why: 'a checkpoint of another version', change: { version: 2 }, span: {} },
      { why: 'a boundary that is no place', change: { boundary: 1.5 }, span: {} },
      { why: 'a name that is too long', change: { configuration: 'x'.repeat(300) }, span: {} },
      { why: 'a handle that is too long', change: {}, span: { handle: '\ud800'.repeat(50) } },
    ])('refuses $why', async ({ change, span, leaseTenant }) => {
      const tenant = newTenant();
      const lease = await leaseOf(store, 'key', leaseTenant ?? tenant);
      const checkpoint = { ...checkpointOf({ tenant }), ...change } as Checkpoint;
      const spans = [spanOf({ tenant, ...span })];
      await expect(store.commit({ checkpoint, spans, lease })).rejects.toMatchObject({ code: 'usage' });
      expect(await store.list({ tenant })).toEqual([]);
      await store.release(lease);
    });
  });

  describe('leases', () => {
    it('are held by one owner at a time, and fences grow', async () => {
      const request = { tenant: newTenant(), key: 'key', milliseconds: MINUTE };
      const first = await store.acquire({ ...request, owner: 'a' });
      expect(first).toMatchObject({ owner: 'a', expiresAt: now + MINUTE });
      expect(await store.acquire({ ...request, owner: 'b' })).toBeUndefined();
      const again = await store.acquire({ ...request, owner: 'a' });
      expect(again?.fence).toBeGreaterThan(first?.fence ?? 0);
      now += MINUTE;
      const next = await store.acquire({ ...request, owner: 'b' });
      expect(next?.fence).toBeGreaterThan(again?.fence ?? 0);
    });

    it('can be renewed until they are lost', async () => {
      const request = { tenant: newTenant(), key: 'key', milliseconds: MINUTE };
      const lease = await leaseOf(store, 'key', request.tenant);
      now += MINUTE - 1;
      const renewed = await store.renew(lease, MINUTE);
      expect(renewed).toStrictEqual({ ...lease, expiresAt: now + MINUTE });
      now += MINUTE - 1;
      expect(await store.acquire({ ...request, owner: 'other' })).toBeUndefined();
      now += 1;
      expect(await store.renew(lease, MINUTE)).toBeUndefined();
    });

    it('go to the next at once when they are released, with a higher fence', async () => {
      const request = { tenant: newTenant(), key: 'key', milliseconds: MINUTE };
      const lease = await leaseOf(store, 'key', request.tenant);
      await store.release(lease);
      const next = await store.acquire({ ...request, owner: 'other' });
      expect(next?.fence).toBeGreaterThan(lease.fence);
      await store.release(lease);
      expect(await store.renew(lease, MINUTE)).toBeUndefined();
      expect(await store.acquire({ ...request, owner: 'third' })).toBeUndefined();
    });

    it('never give a fence twice, collected leases included', async () => {
      const tenant = newTenant();
      const first = await leaseOf(store, 'key', tenant);
      now += 2 * MINUTE;
      await store.collect({});
      expect((await leaseOf(store, 'key', tenant)).fence).toBeGreaterThan(first.fence);
    });

    it('do not block for years when the clock is set back', async () => {
      const request = { tenant: newTenant(), key: 'key', milliseconds: MINUTE };
      const future = now;
      now += 10 * 365 * 24 * 60 * MINUTE;
      await store.acquire({ ...request, owner: 'before' });
      now = future;
      expect(await store.acquire({ ...request, owner: 'after' })).toBeDefined();
    });

    it('are separate for tenants and keys', async () => {
      const [one, two] = [newTenant(), newTenant()];
      await leaseOf(store, 'key', one);
      await leaseOf(store, 'key', two);
      await leaseOf(store, 'other', one);
    });

    it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('do not last %s', async (milliseconds) => {
      const request = { tenant: newTenant(), key: 'key', owner: 'a', milliseconds };
      await expect(Promise.resolve().then(() => store.acquire(request))).rejects.toMatchObject({
        code: 'usage',
      });
    });

    it('go to one of many that ask at the same time', async () => {
      const request = { tenant: newTenant(), key: 'key', milliseconds: MINUTE };
      const owners = Array.from({ length: 12 }, (_, index) => `owner ${index}`);
      const leases = await Promise.all(owners.map((owner) => store.acquire({ ...request, owner })));
      expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    });
  });

  describe('forget', () => {
    it('removes every record, and no other', async () => {
      const tenant = newTenant();
      const kept = checkpointOf({ tenant, conversation: 'kept', chain: 'kept' });
      await commitAlone(store, kept, [spanOf({ tenant, conversation: 'kept', handle: 'rf:same' })]);
      await commitAlone(store, checkpointOf({ tenant }), [spanOf({ tenant, handle: 'rf:same' })]);
      expect(await store.forget({ tenant, conversation: 'conversation' })).toBe(2);
      expect(await store.find(lookupOf(checkpointOf({ tenant })))).toBeUndefined();
      expect(await store.find(lookupOf(kept))).toStrictEqual(kept);
      expect((await store.recall({ tenant, handle: 'rf:same' }))?.conversation).toBe('kept');
      const query = { tenant, conversation: 'conversation', words: 'parser', limit: 10 };
      expect(await store.search(query)).toEqual([]);
      expect((await store.list({ tenant })).map(({ conversation }) => conversation)).toEqual(['kept']);
      expect(await store.forget({ tenant, conversation: 'conversation' })).toBe(0);
    });

    it('holds against a commit that was under way, and not against the next', async () => {
      const checkpoint = checkpointOf({ tenant: newTenant() });
      const { tenant, conversation } = checkpoint;
      const before = await leaseOf(store, 'a', tenant);
      await store.forget({ tenant, conversation });
      await store.collect({});
      expect(await store.commit({ checkpoint, spans: [], lease: before })).toBe('forgotten');
      expect(await store.find(lookupOf(checkpoint))).toBeUndefined();
      const after = await leaseOf(store, 'b', tenant);
      expect(await store.commit({ checkpoint, spans: [], lease: after })).toBe('committed');
      expect(await store.commit({ checkpoint, spans: [], lease: before })).toBe('forgotten');
    });
  });

  describe('list, checkpoints and restore', () => {
    it('shows conversations with their counts, the last used first', async () => {
      const tenant = newTenant();
      const first = checkpointOf({ tenant, conversation: 'first', chain: 'first' });
      await commitAlone(store, first, [spanOf({ tenant, conversation: 'first' })]);
      const createdAt = now;
      now += 10 * MINUTE;
      await commitAlone(store, checkpointOf({ tenant, conversation: 'second', chain: 'second' }));
      const names = async () => (await store.list({ tenant })).map(({ conversation }) => conversation);
      expect(await names()).toEqual(['second', 'first']);
      now += 10 * MINUTE;
      await store.find(lookupOf(first));
      expect(await names()).toEqual(['first', 'second']);
      const [entry] = await store.list({ tenant });
      expect(entry).toMatchObject({ checkpoints: 1, spans: 1, createdAt, usedAt: now });
      expect(entry?.bytes).toBeGreaterThan(500);
      expect((await store.list()).filter((found) => found.tenant === tenant)).toHaveLength(2);
    });

    it('gives checkpoints with the shortest first, and takes an export back', async () => {
      const tenant = newTenant();
      const key = { tenant, conversation: 'conversation' };
      const spans = [1, 2].map((start) => spanOf({ tenant, start }));
      for (const boundary of [9, 3, 5]) await commitAlone(store, checkpointOf({ tenant, boundary }), spans);
      const checkpoints = await store.checkpoints(key);
      expect(checkpoints.map(({ boundary }) => boundary)).toEqual([3, 5, 9]);
      const records = [
        ...checkpoints.map((checkpoint) => ({ checkpoint })),
        ...(await store.spans(key)).map((span) => ({ span })),
      ];
      await store.forget(key);
      await store.restore(records);
      for (const record of records) await store.restore(record);
      expect(await store.checkpoints(key)).toStrictEqual(checkpoints);
      expect(await store.spans(key)).toStrictEqual(spans);
      expect(await store.search({ ...key, words: 'parser', limit: 9 })).toHaveLength(2);
    });

    it('restores all or nothing', async () => {
      const tenant = newTenant();
      const records = [{ checkpoint: checkpointOf({ tenant }) }, { span: {} as never }];
      await expect(store.restore(records)).rejects.toMatchObject({ code: 'usage' });
      expect(await store.list({ tenant })).toEqual([]);
    });

    it('finds nothing wrong', async () => {
      expect(await store.verify()).toEqual([]);
    });
  });

  describe('collect', () => {
    it('removes by last use, and least recently used first by size', async () => {
      const alone = await bench.open(storeCase, { now: () => now });
      for (const name of ['a', 'b', 'c', 'd']) {
        await commitAlone(alone, checkpointOf({ conversation: name, chain: name }), [
          spanOf({ conversation: name }),
        ]);
        now += 10 * MINUTE;
      }
      await alone.find(lookupOf(checkpointOf({ conversation: 'a', chain: 'a' })));
      const names = async () => (await alone.list()).map(({ conversation }) => conversation);
      expect(await alone.collect({ unusedMilliseconds: 25 * MINUTE })).toBe(2);
      expect(await names()).toEqual(['a', 'd', 'c']);
      const bytes = (await alone.list())[0]?.bytes ?? 0;
      expect(await alone.collect({ maximumBytes: 2 * bytes + 1 })).toBe(2);
      expect(await names()).toEqual(['a', 'd']);
      expect(await alone.collect({ maximumBytes: 2 * bytes, unusedMilliseconds: MINUTE ** 2 })).toBe(0);
      expect(await alone.collect({ maximumBytes: 0 })).toBe(4);
      expect(await alone.find(lookupOf(checkpointOf({ conversation: 'a', chain: 'a' })))).toBeUndefined();
      expect(await alone.recall({ tenant: 'tenant', handle: 'rf:1' })).toBeUndefined();
    });
  });

  const anyText = fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  });
  const names = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\u0000', '\ud800', '\udc00', '"', "'", '\\', '%', '_', '#'),
      fc.string({ maxLength: 1 }),
    ),
    maxLength: 12,
  });

  test.prop(
    [fc.record({ tenant: names, conversation: names, chain: names, owner: names }), anyText, fc.uint8Array()],
    {
      numRuns: 40,
    },
  )('keeps every text and every byte', async ({ tenant, conversation, chain, owner }, text, body) => {
    const checkpoint = checkpointOf({ tenant, conversation, chain, parts: [{ raw: { text } }] });
    const span = spanOf({ tenant, conversation, handle: chain, body, text });
    await store.forget({ tenant, conversation });
    const lease = await store.acquire({ tenant, key: conversation, owner, milliseconds: 1 });
    if (lease === undefined) throw new Error('no lease');
    expect(await store.commit({ checkpoint, spans: [span], lease })).toBe('committed');
    expect(await store.find(lookupOf(checkpoint))).toStrictEqual(checkpoint);
    expect(await store.spans({ tenant, conversation })).toStrictEqual([span]);
    expect((await store.list({ tenant })).map((found) => found.conversation)).toContain(conversation);
    await store.release(lease);
  });

  it('refuses calls after it was closed, or answers as an empty one', async () => {
    const other = await bench.open(storeCase);
    await commitAlone(other, checkpointOf());
    await other.close();
    await other.close();
    const answer = await other.find(lookupOf(checkpointOf())).catch((error: unknown) => error);
    expect(answer === undefined || RoundfoldError.is(answer)).toBe(true);
  });
});
