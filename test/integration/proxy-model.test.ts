import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noProxyCounts, proxyProperty } from '../support/proxy-commands.ts';

const STEPS = 100_000;
const BATCH = 50;
const TIMEOUT_MS = 900_000;

describe('instances of a proxy over one store, where anything may fail', () => {
  it(
    `sends nothing wrong in ${STEPS.toLocaleString('en')} steps, and comes to rest`,
    async () => {
      const counts = noProxyCounts();
      for (let seed = 1; counts.steps < STEPS; seed++) {
        await fc.assert(proxyProperty(counts), { numRuns: BATCH, seed });
      }
      console.log(JSON.stringify(counts));

      // Every fault was there often enough to mean something.
      expect(counts.folded).toBeGreaterThan(STEPS / 100);
      expect(counts.recovered).toBeGreaterThan(STEPS / 1000);
      expect(counts.crashes).toBeGreaterThan(STEPS / 1000);
      expect(counts.storeFaults).toBeGreaterThan(STEPS / 100);
    },
    TIMEOUT_MS,
  );
});
