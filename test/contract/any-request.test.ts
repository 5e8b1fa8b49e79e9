import { beforeAll, describe, expect, it } from 'vitest';
import { strategyNames } from '../support/compaction-under-test.ts';
import { bodyFormats } from '../support/random-bodies.ts';
import { keyOf } from '../support/request-batch.ts';
import { properties } from '../support/request-judge.ts';
import { propertyNames, type RequestTotals, runRequests } from '../support/request-pool.ts';

/** Request bodies, all formats together. `npm run test:requests` does the same with a million. */
const BODIES = 30_000;
const SEED = 1;
const TIMEOUT_MS = 600_000;

let totals: RequestTotals;
beforeAll(async () => {
  totals = await runRequests({ bodies: BODIES, seed: SEED, filter: { formats: bodyFormats } });
}, TIMEOUT_MS);

describe.each(bodyFormats)('any request in %s', (format) => {
  for (const property of propertyNames) {
    it(properties[property], () => {
      const failure = totals.failures.get(keyOf({ format, property }));

      expect(failure === undefined ? 'holds' : `${failure.count} times:\n${failure.counterexample}`).toBe(
        'holds',
      );
    });
  }
});

it('looked at so many bodies, a tenth of them or more broken', () => {
  expect(totals.bodies).toBe(BODIES);
  expect(totals.broken).toBeGreaterThan(BODIES / 10);
});

it('gave every strategy something to do, or nothing was proved', () => {
  expect(strategyNames.filter((name) => !totals.acted.has(name))).toEqual(['none']);
});
