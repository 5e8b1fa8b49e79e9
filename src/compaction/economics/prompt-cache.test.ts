import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import type { CacheTerms } from '../../tokens/model-info.ts';
import type { PriceSet } from './costs.ts';
import { createPromptCache, type PromptSegment, replayCost, replayRequests } from './prompt-cache.ts';

const prices = { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5, cacheWriteLong: 8 };
const explicit: PriceSet = {
  prices,
  cache: { writes: 'at-breakpoints', minimumPrefixTokens: 512, ttlSeconds: [300, 3600], lookBackBlocks: 20 },
};
const automatic: PriceSet = {
  prices: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
  cache: { writes: 'automatic', minimumPrefixTokens: 1024, ttlSeconds: [1800], stepTokens: 128 },
};

function withTerms(set: PriceSet, terms: Partial<CacheTerms>): PriceSet {
  return { ...set, cache: { writes: 'automatic', ...set.cache, ...terms } };
}

/** Segments from a text such as `a b c`, 1,000 tokens each; `!` marks the end of one for the cache. */
function segments(text: string): readonly PromptSegment[] {
  return text.split(' ').map((word) => ({
    id: word.replace('!', ''),
    tokens: 1000,
    isBreakpoint: word.endsWith('!'),
  }));
}

/** Sends prompts at their seconds and gives what each reads, writes and pays in full. */
function billed(
  set: PriceSet,
  sent: readonly (readonly [seconds: number, prompt: string])[],
): readonly string[] {
  const requests = sent.map(([atSeconds, prompt]) => ({ segments: segments(prompt), atSeconds }));
  return [...replayRequests(deepFreeze(requests), set)].map(
    ({ readTokens, writtenTokens, uncachedTokens }) => `${readTokens} ${writtenTokens} ${uncachedTokens}`,
  );
}

describe('the prompt cache', () => {
  it.each<[string, PriceSet, readonly (readonly [number, string])[], readonly string[]]>([
    [
      'reads what was sent before',
      explicit,
      [
        [0, 'a b'],
        [9, 'a b c'],
      ],
      ['0 2000 0', '2000 1000 0'],
    ],
    [
      'keeps instructions and tools apart',
      explicit,
      [
        [0, 'a b c'],
        [9, 'a x'],
      ],
      ['0 3000 0', '1000 1000 0'],
    ],
    [
      'has no entry where no request ended',
      explicit,
      [
        [0, 'a b c'],
        [9, 'a b x'],
      ],
      ['0 3000 0', '1000 2000 0'],
    ],
    [
      'finds the end of an older request',
      explicit,
      [
        [0, 'a b'],
        [9, 'a b c'],
        [10, 'a b x'],
      ],
      ['0 2000 0', '2000 1000 0', '2000 1000 0'],
    ],
    [
      'forgets after its lifetime',
      explicit,
      [
        [0, 'a b'],
        [300, 'a b'],
      ],
      ['0 2000 0', '0 2000 0'],
    ],
    [
      'becomes young again by reading',
      explicit,
      [
        [0, 'a'],
        [299, 'a'],
        [598, 'a'],
      ],
      ['0 1000 0', '1000 0 0', '1000 0 0'],
    ],
    [
      'lives longer for more money',
      { ...explicit, lifetime: 'long' },
      [
        [0, 'a'],
        [3599, 'a b'],
      ],
      ['0 1000 0', '1000 1000 0'],
    ],
    [
      'writes nothing behind the last mark',
      explicit,
      [
        [0, 'a! b'],
        [9, 'a! b'],
      ],
      ['0 1000 1000', '1000 0 1000'],
    ],
    [
      'does not cache what is too short',
      withTerms(explicit, { minimumPrefixTokens: 2500 }),
      [
        [0, 'a b'],
        [9, 'a b'],
        [10, 'a b c'],
      ],
      ['0 0 2000', '0 0 2000', '0 3000 0'],
    ],
    [
      'counts in steps',
      automatic,
      [
        [0, 'a b'],
        [9, 'a b c'],
      ],
      ['0 1920 80', '1920 1024 56'],
    ],
    [
      'has any prefix if it is automatic',
      automatic,
      [
        [0, 'a b c'],
        [9, 'a b x'],
      ],
      ['0 2944 56', '1920 1024 56'],
    ],
    [
      'has only ends of requests where the provider says so',
      withTerms(automatic, { requestEndsMatched: 80 }),
      [
        [0, 'a b c'],
        [9, 'a b x'],
      ],
      ['0 2944 56', '0 2944 56'],
    ],
    [
      'has only the ends of the latest requests',
      withTerms(automatic, { requestEndsMatched: 1 }),
      [
        [0, 'a b'],
        [1, 'a b c'],
        [2, 'a b x'],
      ],
      ['0 1920 80', '1920 1024 56', '0 2944 56'],
    ],
    [
      'does nothing where reads are not cheaper',
      { ...explicit, prices: { input: 4, output: 20 } },
      [
        [0, 'a'],
        [1, 'a'],
      ],
      ['0 0 1000', '0 0 1000'],
    ],
  ])('%s', (_, set, sent, expected) => {
    expect(billed(set, sent)).toEqual(expected);
  });

  it('looks back from a breakpoint over 20 blocks, itself included', () => {
    const behind = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`).join(' ');

    expect(
      billed(explicit, [
        [0, 'a!'],
        [1, `a ${behind(19)}!`],
      ])[1],
    ).toBe('1000 19000 0');
    expect(
      billed(explicit, [
        [0, 'a!'],
        [1, `a ${behind(20)}!`],
      ])[1],
    ).toBe('0 21000 0');
    expect(
      billed(explicit, [
        [0, 'a!'],
        [1, `a! ${behind(20)}!`],
      ])[1],
    ).toBe('1000 20000 0');
  });

  it('tells what it has without changing it', () => {
    const cache = createPromptCache(explicit);
    cache.send({ segments: segments('a b'), atSeconds: 0 });

    for (const seconds of [299, 299])
      expect(cache.cachedTokens({ segments: segments('a b c'), atSeconds: seconds })).toBe(2000);
    expect(cache.cachedTokens({ segments: segments('a b c'), atSeconds: 300 })).toBe(0);
    expect(cache.cachedTokens({ segments: segments('x'), atSeconds: 1 })).toBe(0);
  });
});

describe('the cost of a sequence of requests', () => {
  it('adds reads, writes, input and output at their prices', () => {
    const requests = [
      { segments: segments('a b'), atSeconds: 0, outputTokens: 100 },
      { segments: segments('a b c'), atSeconds: 9, outputTokens: 200 },
    ];

    const total = replayCost(requests, explicit);

    expect(total).toMatchObject({
      requests: 2,
      readTokens: 2000,
      writtenTokens: 3000,
      uncachedTokens: 0,
      outputTokens: 300,
    });
    expect(total.cost).toBeCloseTo((2000 * 0.2 + 3000 * 5 + 300 * 20) / 1e6, 12);
  });

  it('takes the price of the long prompt for the whole request above its step', () => {
    const set = {
      prices: { input: 1, output: 2, longContext: { abovePromptTokens: 1000, input: 10, output: 20 } },
    };

    expect(replayCost([{ segments: segments('a'), atSeconds: 0, outputTokens: 1 }], set).cost).toBeCloseTo(
      1002e-6,
      12,
    );
    expect(replayCost([{ segments: segments('a b'), atSeconds: 0, outputTokens: 1 }], set).cost).toBeCloseTo(
      20_020e-6,
      12,
    );
  });

  it('costs nothing for nothing', () => {
    expect(replayCost([], explicit)).toMatchObject({ requests: 0, cost: 0 });
    expect(replayCost([{ segments: [], atSeconds: 0 }], explicit)).toMatchObject({ requests: 1, cost: 0 });
  });
});
