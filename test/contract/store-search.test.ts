import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/stores/store.ts';
import { storeBench, storeCases } from '../support/store-cases.ts';
import { checkpointOf, commitAlone, spanOf } from '../support/store-records.ts';

const bench = storeBench();
afterAll(() => bench.end());

describe.each(storeCases)('search in a $name store', (storeCase) => {
  let store: Store;
  let tenants = 0;
  const newTenant = () => `tenant ${++tenants}`;
  beforeAll(async () => {
    store = await bench.open(storeCase);
  });

  const texts = [
    'The tests of src/core/plan.ts fail: TypeError',
    'Größe über ALLES, naïve café',
    'SELECT * FROM spans; -- "quoted" AND NOT near(x) *',
    '計算機 の 文字列を検索する',
    'snake_case_name camelCaseName 3.14 v2',
  ];

  it.each([
    { words: 'plan', places: [0] },
    { words: 'PLAN typeerror', places: [0] },
    { words: 'plan missing', places: [] },
    { words: 'größe', places: [1] },
    { words: 'ÜBER alles', places: [1] },
    { words: 'CAFÉ', places: [1] },
    { words: 'quoted', places: [2] },
    { words: '"quoted" OR plan', places: [] },
    { words: "near(x) AND NOT ' & | ! <-> :* ^", places: [2] },
    { words: '検索', places: [3] },
    { words: 'case', places: [4] },
    { words: '14', places: [4] },
    { words: '_1', places: [] },
    { words: '', places: [] },
    { words: '"*^- ():\u0000', places: [] },
  ])('finds $words at $places', async ({ words, places }) => {
    const tenant = newTenant();
    const spans = texts.map((text, start) => spanOf({ tenant, text, start, handle: `rf:${start}` }));
    await commitAlone(store, checkpointOf({ tenant }), spans);
    const found = await store.search({ tenant, conversation: 'conversation', words, limit: 10 });
    expect(found.map(({ start }) => start)).toEqual(places);
  });

  it.each([
    {
      what: 'more words than an index takes',
      text: Array.from({ length: 150_000 }, (_, n) => `w${n}`).join(' '),
    },
    { what: 'one word without end', text: `w0 ${'x'.repeat(3_000_000)}` },
    { what: 'large characters', text: `w0 ${'𒀀'.repeat(100_000)} ${'ﷺ½Ⅷ'.repeat(1000)}` },
  ])('copes with $what', async ({ text }) => {
    const tenant = newTenant();
    await commitAlone(store, checkpointOf({ tenant }), [spanOf({ tenant, text })]);
    for (const words of ['w0', text.slice(3, 200)]) {
      expect(await store.search({ tenant, conversation: 'conversation', words, limit: 5 })).toHaveLength(1);
    }
  });

  it('stays within one tenant and one conversation', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    await commitAlone(store, checkpointOf({ tenant }), [spanOf({ tenant })]);
    await commitAlone(store, checkpointOf({ tenant: other }), [spanOf({ tenant: other })]);
    const conversation = { conversation: 'second', chain: 'second' };
    await commitAlone(store, checkpointOf({ tenant, ...conversation }), []);
    const query = { words: 'parser', limit: 10 };
    expect(await store.search({ ...query, tenant, conversation: 'conversation' })).toHaveLength(1);
    expect(await store.search({ ...query, tenant, conversation: 'second' })).toEqual([]);
  });

  it('gives an excerpt around the words, and no more than asked for', async () => {
    const tenant = newTenant();
    const text = `${'filler '.repeat(500)}the needle is here ${'filler '.repeat(500)}`;
    const spans = [7, 3, 5].map((start) =>
      spanOf({ tenant, text, start, end: start + 1, handle: `rf:${start}` }),
    );
    await commitAlone(store, checkpointOf({ tenant }), spans);
    const found = await store.search({ tenant, conversation: 'conversation', words: 'Needle', limit: 2 });
    expect(found.map(({ handle, start, end }) => ({ handle, start, end }))).toEqual([
      { handle: 'rf:3', start: 3, end: 4 },
      { handle: 'rf:5', start: 5, end: 6 },
    ]);
    expect(found[0]?.excerpt).toMatch(/^…filler .*the needle is here .*…$/);
    expect(found[0]?.excerpt.length).toBeLessThan(250);
  });
});
