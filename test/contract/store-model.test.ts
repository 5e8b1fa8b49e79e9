import { fc } from '@fast-check/vitest';
import { afterAll, describe, it } from 'vitest';
import { storeBench, storeCases } from '../support/store-cases.ts';
import { emptyModel, storeCommands } from '../support/store-model.ts';

/** A server takes longer for every question. */
const RUNS: Readonly<Record<string, number>> = { memory: 300, sqlite: 100, postgres: 40 };

const bench = storeBench();
afterAll(() => bench.end());

describe.each(storeCases)('store $name', (storeCase) => {
  it('does what plain maps do, whatever it is asked', async () => {
    const clock = { now: 1_800_000_000_000 };
    const store = await bench.open(storeCase, { now: () => clock.now });
    let runs = 0;
    const property = fc.asyncProperty(storeCommands(), async (commands) => {
      // Collecting is for all tenants: what the run before has left would be counted.
      for (const { tenant, conversation } of await store.list()) await store.forget({ tenant, conversation });
      const tenant = `run ${++runs}`;
      const setup = () => ({ model: emptyModel(clock.now), real: { store, clock, tenant } });
      await fc.asyncModelRun(setup, commands);
    });
    await fc.assert(property, { numRuns: RUNS[storeCase.kind] ?? 40 });
  });
});
