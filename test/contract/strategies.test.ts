import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as entry from '../../src/compaction/strategies/index.ts';
import { strategies } from '../../src/compaction/strategies/registry.ts';
import { findFormat } from '../../src/formats/registry.ts';
import {
  caseFormats,
  casesOf,
  checkCase,
  compactions,
  eagerStrategies,
} from '../support/conversations-cases.ts';
import { strategyContext } from '../support/strategy-context.ts';

/** Generated conversations, all formats together. `npm run test:campaign` does the same with a million. */
const CONVERSATIONS = 20_000;
const RUNS = { numRuns: CONVERSATIONS / caseFormats.length };
const TIMEOUT_MS = 600_000;

describe.each(caseFormats)('every strategy in %s', (name) => {
  it(
    `keeps each of ${RUNS.numRuns} conversations legal, or a broken one no worse, and what it did can be undone`,
    async () => {
      await fc.assert(fc.asyncProperty(casesOf([name]), checkCase), RUNS);
    },
    TIMEOUT_MS,
  );

  it.each(eagerStrategies)('$name has nothing to do with an empty list', async (strategy) => {
    const empty = findFormat(name)!.read([]);

    expect(await strategy.compact(empty, strategyContext())).toMatchObject({ status: 'skipped' });
  });
});

it('gave every strategy something to do, or nothing was proved', () => {
  const idle = [...compactions].filter(([, times]) => times === 0).map(([name]) => name);

  expect(idle).toEqual(['none']);
});

// A strategy is a function with properties, which the runner's titles do not read.
it.each(strategies.map((definition) => ({ name: definition.name, definition })))(
  '$name is a function of the package, under its name in camel case',
  ({ name, definition }) => {
    const exported = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const found = new Map<string, unknown>(Object.entries(entry)).get(exported);

    expect(found, `no ${exported}: export it from src/compaction/strategies/index.ts`).toBe(definition);
  },
);
