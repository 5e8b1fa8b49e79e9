import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createCacheLedger } from './cache-ledger.ts';
import type { Prompt } from './prompt.ts';

/** A prompt of blocks with so many tokens each; `*` marks a breakpoint, `!` one for an hour. Only hashes and ends count. */
function prompt(...blocks: readonly (readonly [tokens: number, mark?: '*' | '!' | undefined])[]): Prompt {
  let endTokens = 0;
  let prefixHash = '';
  const written = blocks.map(([tokens, mark]) => {
    endTokens += tokens;
    prefixHash += `/${tokens}`;
    const cacheControl = mark && { type: 'ephemeral', ...(mark === '!' ? { ttl: '1h' } : {}) };
    return { endTokens, prefixHash, cacheControl };
  });
  // The ledger looks at nothing but blocks and total.
  return { tokens: endTokens, blocks: written } as unknown as Prompt;
}

const rules = { minimumTokens: 1024, automatic: undefined };

describe('breakpoints', () => {
  it('the longest prefix wins when several are warm', () => {
    const ledger = createCacheLedger(() => 0);
    ledger.useBreakpoints(prompt([2000, '*'], [3000, '*'], [10]), rules);
    const use = ledger.useBreakpoints(prompt([2000, '*'], [3000, '*'], [4000, '*']), rules);
    expect(use).toEqual({ readTokens: 5000, writtenTokens: 4000, writtenLongTokens: 0 });
  });

  it('an earlier breakpoint is found when the end has changed', () => {
    const ledger = createCacheLedger(() => 0);
    ledger.useBreakpoints(prompt([2000, '*'], [3000, '*']), rules);
    const use = ledger.useBreakpoints(prompt([2000, '*'], [3001, '*']), rules);
    expect(use).toEqual({ readTokens: 2000, writtenTokens: 3001, writtenLongTokens: 0 });
  });

  it('what is written for an hour and for five minutes is counted apart', () => {
    const ledger = createCacheLedger(() => 0);
    const use = ledger.useBreakpoints(prompt([2000, '!'], [3000, '*'], [10]), rules);
    expect(use).toEqual({ readTokens: 0, writtenTokens: 3000, writtenLongTokens: 2000 });
  });

  const anyBlock = fc.tuple(
    fc.integer({ min: 0, max: 3000 }),
    fc.constantFrom(undefined, undefined, '*' as const, '!' as const),
  );
  const anyTurns = fc.array(fc.tuple(fc.array(anyBlock, { maxLength: 12 }), fc.nat(400_000)), {
    maxLength: 8,
  });

  test.prop([anyTurns, fc.boolean()])(
    'read, written and the rest never exceed the prompt, whatever comes',
    (turns, isAutomatic) => {
      let now = 0;
      const ledger = createCacheLedger(() => now);
      for (const [blocks, waitMs] of turns) {
        const sent = prompt(...blocks);
        const automatic = isAutomatic ? { type: 'ephemeral' } : undefined;
        const use = ledger.useBreakpoints(sent, { minimumTokens: 1024, automatic });
        const parts = [use.readTokens, use.writtenTokens, use.writtenLongTokens];
        expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
        expect(parts.reduce((sum, part) => sum + part)).toBeLessThanOrEqual(sent.tokens);
        const again = ledger.useBreakpoints(sent, { minimumTokens: 1024, automatic });
        expect(again.writtenTokens + again.writtenLongTokens).toBe(0);
        expect(again.readTokens).toBe(parts.reduce((sum, part) => sum + part));
        now += waitMs;
      }
    },
  );
});

describe('automatic', () => {
  test.prop([fc.array(fc.array(fc.constantFrom(100, 700, 1500), { maxLength: 8 }), { maxLength: 8 })])(
    'what is read is common to an earlier prompt, in whole steps, and never a short one',
    (prompts) => {
      const ledger = createCacheLedger(() => 0);
      const seen: number[][] = [];
      for (const sizes of prompts) {
        const { readTokens } = ledger.useAutomatic(prompt(...sizes.map((size) => [size] as const)), 1000);
        const common = Math.max(0, ...seen.map((other) => commonTokens(other, sizes)));
        expect(readTokens).toBe(common < 1024 ? 0 : common - (common % 128));
        seen.push(sizes);
      }
    },
  );
});

function commonTokens(left: readonly number[], right: readonly number[]): number {
  const end = left.findIndex((size, index) => size !== right[index]);
  return left.slice(0, end === -1 ? left.length : end).reduce((sum, size) => sum + size, 0);
}
