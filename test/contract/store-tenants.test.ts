import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/stores/store.ts';
import { storeBench, storeCases } from '../support/store-cases.ts';
import { openRaw } from '../support/store-database.ts';
import { checkpointOf, commitAlone, leaseOf, lookupOf, spanOf } from '../support/store-records.ts';

const bench = storeBench();
afterAll(() => bench.end());

const key = (tenant: string, conversation = 'conversation') => ({ tenant, conversation });

/** Two conversations with what left them, a wish and a lease, with the same words and the same handle for everybody. */
async function fill(store: Store, tenant: string): Promise<void> {
  for (const conversation of ['conversation', 'another']) {
    const words = `the ${tenant} parser fails`;
    const parts = [{ raw: { role: 'user', content: words } }];
    const spans = ['rf:1', 'rf:2'].map((handle, start) =>
      spanOf({ tenant, conversation, handle, start, text: handle === 'rf:1' ? 'shared words' : words }),
    );
    await commitAlone(store, checkpointOf({ tenant, conversation, parts }), spans);
  }
  await store.wish(key(tenant), () => ({ foldedUpTo: 2, pinned: [1] }));
}

describe.each(storeCases)('wishes in store $name', (storeCase) => {
  it('are kept for a stored conversation, changed with nobody in between, and found by their tenant alone', async () => {
    const store = await bench.open(storeCase);
    await commitAlone(store, checkpointOf(key('a')));
    await commitAlone(store, checkpointOf(key('b')));

    expect(await store.wish(key('a'), () => ({ foldedUpTo: 0 }))).toEqual({ foldedUpTo: 0, pinned: [] });
    const add = (place: number) =>
      store.wish(key('a'), (now) => ({ ...now, pinned: [...(now.pinned ?? []), place] }));
    await Promise.all([1, 2, 3, 4, 5].map(add));

    const [wishes, ...others] = await store.wishes('a');
    expect(others).toEqual([]);
    expect(wishes).toMatchObject({ conversation: 'conversation', foldedUpTo: 0 });
    expect(wishes?.pinned?.toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect(await store.wishes('b')).toEqual([]);

    expect(await store.wish(key('a'), () => ({}))).toEqual({});
    expect(await store.wishes('a')).toEqual([]);
  });

  it('are refused where nothing is stored, and leave with the records', async () => {
    let now = 1_800_000_000_000;
    const store = await bench.open(storeCase, { now: () => now });
    expect(await store.wish(key('a'), () => ({ pinned: [1] }))).toBeUndefined();
    expect(await store.wishes('a')).toEqual([]);

    for (const conversation of ['forgotten', 'collected']) {
      await commitAlone(store, checkpointOf(key('a', conversation)));
      await store.wish(key('a', conversation), () => ({ pinned: [1] }));
    }
    await store.forget(key('a', 'forgotten'));
    expect((await store.wishes('a')).map(({ conversation }) => conversation)).toEqual(['collected']);
    now += 60_000;
    await store.collect({ unusedMilliseconds: 1000 });
    expect(await store.wishes('a')).toEqual([]);
    // Nothing comes back with new records.
    await commitAlone(store, checkpointOf(key('a', 'forgotten')));
    expect(await store.wishes('a')).toEqual([]);
  });
});

describe.each(storeCases.filter(({ isShared }) => isShared))('wishes in store $name', (storeCase) => {
  it('are the same for everybody who opens it', async () => {
    const address = await bench.address(storeCase.kind);
    const one = await bench.open(storeCase, { address });
    const other = await bench.open(storeCase, { address });
    await commitAlone(one, checkpointOf(key('a')));
    await one.wish(key('a'), () => ({ pinned: [1] }));
    await other.wish(key('a'), ({ pinned = [] }) => ({ pinned: [...pinned, 2] }));
    expect(await one.wishes('a')).toEqual([{ conversation: 'conversation', pinned: [1, 2] }]);
  });
});

describe.each(storeCases)('a tenant erased from store $name', (storeCase) => {
  it('has nothing any more, and others have everything they had', async () => {
    const store = await bench.open(storeCase);
    await fill(store, 'leaving');
    await fill(store, 'staying');
    const kept = async () => ({
      list: await store.list({ tenant: 'staying' }),
      checkpoints: await store.checkpoints(key('staying')),
      spans: await store.spans(key('staying')),
      recalled: await store.recall({ tenant: 'staying', handle: 'rf:1' }),
      found: await store.search({ ...key('staying'), words: 'shared words', limit: 9 }),
      wishes: await store.wishes('staying'),
    });
    const before = await kept();

    expect(await store.erase('leaving')).toBe(6);

    expect(await store.list({ tenant: 'leaving' })).toEqual([]);
    expect(await store.find(lookupOf(checkpointOf(key('leaving'))))).toBeUndefined();
    expect(await store.recall({ tenant: 'leaving', handle: 'rf:1' })).toBeUndefined();
    expect(await store.search({ ...key('leaving'), words: 'shared', limit: 9 })).toEqual([]);
    expect(await store.wishes('leaving')).toEqual([]);
    expect(await kept()).toEqual(before);
    expect(before.list).toHaveLength(2);
    expect(before.recalled?.text).toBe('shared words');
    expect(await store.erase('leaving')).toBe(0);
    expect(await store.erase('nobody')).toBe(0);
  });

  it('gets nothing back from a compaction that was under way, and begins anew with the next', async () => {
    const store = await bench.open(storeCase);
    const checkpoint = checkpointOf(key('leaving'));
    const lease = await leaseOf(store, 'conversation', 'leaving');
    await store.erase('leaving');

    expect(await store.commit({ checkpoint, spans: [spanOf(key('leaving'))], lease })).toBe('fenced');
    expect(await store.renew(lease, 1000)).toBeUndefined();
    expect(await store.list()).toEqual([]);
    await commitAlone(store, checkpoint);
    expect(await store.list()).toHaveLength(1);
  });

  it('is gone as well when records are written at the same time', async () => {
    const store = await bench.open(storeCase);
    const leases = await Promise.all(
      Array.from({ length: 8 }, (_one, index) => leaseOf(store, `c${index}`, 'leaving')),
    );
    const commits = leases.map((lease) =>
      store.commit({ checkpoint: checkpointOf(key('leaving', lease.key)), spans: [], lease }),
    );
    await Promise.all([...commits, store.erase('leaving')]);
    expect(await store.list()).toEqual([]);
  });
});

describe.each(storeCases.filter(({ isFile }) => isFile))('the file of store $name', (storeCase) => {
  it('holds no byte of a tenant that was erased: no text, no word of the index, no name', async () => {
    const address = await bench.address(storeCase.kind);
    const store = await bench.open(storeCase, { address });
    await fill(store, 'leavingtenant');
    await fill(store, 'stayingtenant');
    const bytes = () => ['', '-wal'].map((end) => readFileSync(`${address}${end}`, 'latin1')).join('');
    expect(bytes()).toContain('leavingtenant');

    await store.erase('leavingtenant');
    expect(bytes()).not.toContain('leavingtenant');
    expect(bytes()).toContain('stayingtenant');
  });
});

describe.each(storeCases.filter(({ isSql }) => isSql))('the tables of store $name', (storeCase) => {
  it('have no row with anything of a tenant that was erased', async () => {
    const address = await bench.address(storeCase.kind);
    const store = await bench.open(storeCase, { address });
    await fill(store, 'leavingtenant');
    await fill(store, 'stayingtenant');
    const raw = await openRaw(address);
    onTestFinished(() => raw.close());
    const tables = ['conversations', 'records', 'leases', ...(storeCase.isFile ? [] : ['span_words'])];
    const contents = async () => {
      const rows = await Promise.all(tables.map((table) => raw.run(`select * from ${table}`)));
      const texts = rows
        .flat()
        .flatMap((row) => Object.values(row))
        .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)));
      return { texts: texts.join('\n'), counts: rows.map(({ length }) => length) };
    };
    const before = await contents();
    expect(before.texts).toContain('leavingtenant');

    await store.erase('leavingtenant');
    const after = await contents();
    expect(after.texts).not.toContain('leavingtenant');
    expect(after.texts).toContain('stayingtenant');
    // Half of everything was somebody else's.
    expect(after.counts).toEqual(before.counts.map((count) => count / 2));
  });
});
