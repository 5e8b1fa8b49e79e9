import { describe, expect, it } from 'vitest';
import type { PricedModel } from '../compaction/economics/costs.ts';
import { catalog } from './catalog-data.ts';

describe('rows of the catalog', () => {
  // The assignment is the test: both folders state the shape on their own, since neither may import the other.
  const priced: readonly PricedModel[] = catalog;

  it.each(
    priced.flatMap(({ prices }, index) => (prices === undefined ? [] : [{ id: catalog[index]?.id, prices }])),
  )('$id never costs less above its price step, and reads no dearer than it writes', ({ prices }) => {
    const { input, cacheRead = input, cacheWrite = input, longContext = prices } = prices;

    expect(longContext.input).toBeGreaterThanOrEqual(input);
    expect(longContext.output).toBeGreaterThanOrEqual(prices.output);
    expect(longContext.cacheRead ?? longContext.input).toBeGreaterThanOrEqual(cacheRead);
    expect(longContext.cacheWrite ?? longContext.input).toBeGreaterThanOrEqual(cacheWrite);
    expect(cacheRead).toBeLessThanOrEqual(input);
    expect(cacheWrite).toBeGreaterThanOrEqual(input);
  });
});
