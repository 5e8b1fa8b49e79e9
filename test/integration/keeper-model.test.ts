import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noCounts, worldProperty } from '../support/keeper-commands.ts';

const STEPS = 100_000;
const BATCH = 100;
const TIMEOUT_MS = 900_000;

describe('a keeper among clients that do as they please', () => {
  it(
    `does right in ${STEPS.toLocaleString('en')} steps`,
    async () => {
      const counts = noCounts();
      for (let seed = 1; counts.steps < STEPS; seed++) {
        await fc.assert(worldProperty(counts), { numRuns: BATCH, seed });
      }
      console.log(JSON.stringify(counts));

      expect(counts.compactions).toBeGreaterThan(STEPS / 100);
      expect(counts.folded).toBeGreaterThan(STEPS / 10);
      expect(counts.noisy).toBeGreaterThan(STEPS / 100);
      expect(counts.reused / counts.noisy).toBeGreaterThanOrEqual(0.999);
    },
    TIMEOUT_MS,
  );
});
