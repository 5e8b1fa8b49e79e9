import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/stores/registry.ts';
import type { ArchivedSpan, Store, StoreFault } from '../../src/stores/store.ts';
import { SECRET, type StoreCase, storeBench, storeCases } from '../support/store-cases.ts';
import { openRaw, type RawDatabase } from '../support/store-database.ts';
import { checkpointOf, commitAlone, leaseOf, lookupOf, spanOf, trueOf } from '../support/store-records.ts';

const bench = storeBench();
afterAll(() => bench.end());

const kept = storeCases.filter(({ isSql }) => isSql);
const short = checkpointOf({ boundary: 2 });
const long = checkpointOf({ boundary: 7 });
const span = spanOf({ text: 'the quick brown fox' });

describe.each(kept)('records of a $name store', (storeCase: StoreCase) => {
  let address: string;
  let store: Store;
  let raw: RawDatabase;
  let faults: StoreFault[];

  beforeEach(async () => {
    address = await bench.address(storeCase.kind);
    faults = [];
    store = await bench.open(storeCase, { address, onFault: (fault) => faults.push(fault) });
    await commitAlone(store, short);
    await commitAlone(store, long, [span]);
    raw = await openRaw(address);
  });
  afterEach(() => raw.close());

  const bodyOf = async (id: number) =>
    new Uint8Array(
      (await raw.run('select body from records where id = $1', [id]))[0]?.['body'] as Uint8Array,
    );
  const setBody = (id: number, body: Uint8Array) =>
    raw.run('update records set body = $1 where id = $2', [body, id]);
  /** In the order in which they were written: the short checkpoint, the long one, the span, and what a test adds. */
  const LONG = 2;
  const SPAN = 3;

  const damages = [
    {
      what: 'a bit is wrong',
      damage: (body: Uint8Array, place: number) => body.with(place, (body[place] ?? 0) ^ (1 << (place % 8))),
    },
    { what: 'they end early', damage: (body: Uint8Array, place: number) => body.slice(0, place) },
  ];
  // On the server, what is read is no different, and takes longer.
  const step = storeCase.isFile ? 1 : 37;

  it.each(damages)('are never served when $what', async ({ damage }) => {
    const body = await bodyOf(LONG);
    for (let place = 0; place < body.length; place += step) {
      await setBody(LONG, damage(body, place));
      expect(await store.find(lookupOf(short, long))).toStrictEqual(short);
      expect(await store.find(lookupOf(long))).toBeUndefined();
    }
    expect(faults.length).toBe(2 * Math.ceil(body.length / step));
    expect(new Set(faults.map(({ name }) => name))).toEqual(new Set([long.chain]));
  });

  it.each(damages)('of spans are never served when $what', async ({ damage }) => {
    const body = await bodyOf(SPAN);
    for (let place = 0; place < body.length; place += step) {
      await setBody(SPAN, damage(body, place));
      expect(await store.recall({ tenant: 'tenant', handle: span.handle })).toBeUndefined();
    }
    expect(faults.length).toBe(Math.ceil(body.length / step));
  });

  it('of spans are told once, also beside one that was just served', async () => {
    const others = ['rf:second', 'rf:third', 'rf:fourth'].map((handle) => spanOf({ handle }));
    await store.restore(others.map((other) => ({ span: other })));
    expect(await store.recall(span)).toStrictEqual(span);
    const third = SPAN + 2;
    await setBody(third, (await bodyOf(third)).with(30, 0));
    for (const [index, other] of others.entries()) {
      expect(await store.recall(other)).toStrictEqual(index === 1 ? undefined : other);
    }
    expect(faults).toEqual([{ kind: 'span', tenant: 'tenant', name: 'rf:third', reason: 'damaged' }]);
  });

  it('of spans belong to the conversation that has their row now', async () => {
    const [first, second] = [1, 2].map((number) => spanOf({ handle: `rf:first-${number}` })) as [
      ArchivedSpan,
      ArchivedSpan,
    ];
    await store.restore([{ span: first }, { span: second }]);
    expect(await store.recall(first)).toStrictEqual(first);
    // Another process removes it with everything in it; SQLite gives its number to the next one.
    const other = await bench.open(storeCase, { address });
    await other.forget(span);
    await other.collect({});
    const moved = { ...second, conversation: 'the next' };
    await other.restore({ span: moved });
    const rows = await raw.run('select id from conversations');
    expect(rows.map(({ id }) => Number(id))).toEqual([storeCase.kind === 'sqlite' ? 1 : 2]);
    expect(await store.recall(second)).toStrictEqual(moved);
    expect(faults).toEqual([]);
  });

  it.each([
    { what: 'of a later version', change: (body: Uint8Array) => body.with(0, 9), reason: 'unknown-version' },
    {
      what: 'of an earlier version',
      change: (body: Uint8Array) => body.with(0, 3),
      reason: 'unknown-version',
    },
    { what: 'cut short', change: (body: Uint8Array) => body.slice(0, -1), reason: 'damaged' },
    { what: 'empty', change: () => new Uint8Array(), reason: 'damaged' },
  ])('are told and written anew when they are $what', async ({ change, reason }) => {
    await setBody(LONG, change(await bodyOf(LONG)));
    await setBody(SPAN, change(await bodyOf(SPAN)));
    expect(await store.find(lookupOf(long))).toBeUndefined();
    expect(await store.recall({ tenant: 'tenant', handle: span.handle })).toBeUndefined();
    expect(await store.spans(long)).toEqual([]);
    expect(await store.checkpoints(long)).toEqual([short]);
    const checkpointFault = { kind: 'checkpoint', tenant: 'tenant', name: long.chain, reason };
    const spanFault = { kind: 'span', tenant: 'tenant', name: span.handle, reason };
    expect(faults).toEqual([checkpointFault, spanFault, spanFault, checkpointFault]);
    expect(await store.verify()).toEqual([checkpointFault, spanFault]);
    await commitAlone(store, long, [span]);
    expect(await store.find(lookupOf(long))).toStrictEqual(long);
    expect(await store.recall({ tenant: 'tenant', handle: span.handle })).toStrictEqual(span);
    expect(
      await store.search({ tenant: 'tenant', conversation: 'conversation', words: 'fox', limit: 2 }),
    ).toHaveLength(1);
    expect(await store.verify()).toEqual([]);
  });

  it.each(['tenant', 'configuration', 'chain'])('do not open under another %s', async (column) => {
    const changes: Readonly<Record<string, string>> = {
      tenant: 'update conversations set tenant = $1',
      configuration: `update records set scope = $1 where id = ${LONG}`,
      chain: `update records set name = $1 where id = ${LONG}`,
    };
    await raw.run(changes[column] ?? expect.fail(), ['other']);
    const moved =
      column === 'chain'
        ? { ...lookupOf(long), ...trueOf([{ chain: 'other', boundary: long.boundary }]) }
        : { ...lookupOf(long), [column]: 'other' };
    expect(await store.find(moved)).toBeUndefined();
    // Every tenant has a key of its own.
    const isOtherKey = storeCase.isSealed && column === 'tenant';
    expect(faults).toMatchObject([{ reason: isOtherKey ? 'wrong-key' : 'damaged' }]);
  });

  it('do not open in another conversation, nor in the place of another', async () => {
    await commitAlone(store, checkpointOf({ conversation: 'other', chain: 'other' }), [
      spanOf({ conversation: 'other', handle: 'rf:other' }),
    ]);
    const otherSpan = SPAN + 2;
    await setBody(otherSpan, await bodyOf(SPAN));
    expect(await store.recall({ tenant: 'tenant', handle: 'rf:other' })).toBeUndefined();
    await raw.run('update records set conversation_id = 2 where id = $1', [LONG]);
    expect(await store.find(lookupOf(long))).toBeUndefined();
    expect(faults).toHaveLength(1);
    expect(await store.find({ ...lookupOf(long), conversations: ['other'] })).toBeUndefined();
    expect(faults).toHaveLength(2);
  });

  it.each([
    { what: 'another secret', secret: 'another secret of sixteen bytes' },
    { what: storeCase.isSealed ? 'no secret' : 'a secret', secret: storeCase.isSealed ? undefined : SECRET },
  ])('count as missing with $what, and are written anew', async ({ secret }) => {
    const told: StoreFault[] = [];
    const other = openStore(address, { secret, onFault: (fault) => told.push(fault) });
    expect(await other.find(lookupOf(short, long))).toBeUndefined();
    expect(told).toMatchObject([{ reason: 'wrong-key', name: long.chain }, { reason: 'wrong-key' }]);
    expect(
      await other.search({ tenant: 'tenant', conversation: 'conversation', words: 'fox', limit: 5 }),
    ).toEqual([]);
    expect(await other.verify()).toHaveLength(3);
    // An import leaves them alone.
    await other.restore([{ checkpoint: long }, { span }]);
    expect(await other.verify()).toHaveLength(3);
    expect(await other.commit({ checkpoint: long, spans: [span], lease: await leaseOf(other) })).toBe(
      'committed',
    );
    expect(await other.find(lookupOf(short, long))).toStrictEqual(long);
    await other.close();
  });

  it('are not to be found by looking at the database', async () => {
    const tables = ['conversations', 'records', 'leases'];
    const rows = await Promise.all(tables.map((table) => raw.run(`select * from ${table}`)));
    const index =
      storeCase.isSealed || storeCase.kind === 'postgres' ? await raw.run('select * from span_words') : [];
    const everything = [...rows.flat(), ...index]
      .flatMap((row) => Object.values(row))
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
      .join('\n');
    expect(everything.includes('brown')).toBe(!storeCase.isSealed);
    expect(everything.includes('what happened')).toBe(!storeCase.isSealed);
  });

  it.runIf(storeCase.isFile)('leave no bytes behind when they are forgotten', async () => {
    await commitAlone(store, checkpointOf({ conversation: 'other', chain: 'other' }), [
      spanOf({ conversation: 'other', handle: 'rf:other', text: 'a lazy dog' }),
    ]);
    const inFiles = (text: string) =>
      ['', '-wal'].some((suffix) => readFileSync(address + suffix).includes(text));
    expect(inFiles('brown')).toBe(!storeCase.isSealed);
    await raw.close();
    await store.forget({ tenant: 'tenant', conversation: 'conversation' });
    raw = await openRaw(address);
    for (const text of ['brown', 'quick', 'what happened before message 7'])
      expect(inFiles(text)).toBe(false);
    expect(inFiles('lazy')).toBe(!storeCase.isSealed);
  });
});

it('refuses a short secret', () => {
  expect(() => openStore('somewhere.sqlite', { secret: 'short' })).toThrow(/at least 16 bytes/);
});
