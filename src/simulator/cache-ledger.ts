import type { Prompt, PromptBlock } from './prompt.ts';

/** What a provider's prompt cache made of one request, in tokens. */
export interface CacheUse {
  readonly readTokens: number;
  /** Written for five minutes (or whatever is the provider's only lifetime). */
  readonly writtenTokens: number;
  /** Written for an hour. */
  readonly writtenLongTokens: number;
}

/** Remembers prefixes until they expire. Reading one makes it young again. */
export interface CacheLedger {
  /** Anthropic: written at breakpoints only, found by looking back from them. */
  useBreakpoints(prompt: Prompt, rules: BreakpointRules): CacheUse;
  /** OpenAI: written and found by itself, in steps. */
  useAutomatic(prompt: Prompt, ttlMs: number): CacheUse;
}

export interface BreakpointRules {
  /** Shorter prefixes are silently not cached. */
  readonly minimumTokens: number;
  /** Top-level `cache_control`: one more breakpoint at the last block. */
  readonly automatic: Readonly<Record<string, unknown>> | undefined;
}

const lookBackBlocks = 20;
const maxEntries = 20_000;
const automaticMinimumTokens = 1024;
const automaticStepTokens = 128;
const ttlMs = { short: 5 * 60_000, long: 60 * 60_000 } as const;

interface Breakpoint {
  readonly index: number;
  readonly block: PromptBlock;
  readonly isLong: boolean;
}

/** A ledger with the given clock, in milliseconds. */
export function createCacheLedger(now: () => number): CacheLedger {
  /** Prefix hash to lifetime and end of life, oldest use first. */
  const entries = new Map<string, { readonly ttlMs: number; readonly endsMs: number }>();

  const isWarm = (hash: string): boolean => (entries.get(hash)?.endsMs ?? Number.NEGATIVE_INFINITY) > now();
  const keep = (hash: string, lifetimeMs: number): void => {
    entries.delete(hash);
    entries.set(hash, { ttlMs: lifetimeMs, endsMs: now() + lifetimeMs });
    const oldest = entries.size > maxEntries ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  };
  const refresh = (hash: string): void => keep(hash, entries.get(hash)?.ttlMs ?? ttlMs.short);

  return {
    useBreakpoints(prompt, rules) {
      const breakpoints = findBreakpoints(prompt, rules);
      const hit = findHit(prompt.blocks, breakpoints, isWarm);
      if (hit !== undefined) refresh(hit.prefixHash);
      const readTokens = hit?.endTokens ?? 0;
      const written = breakpoints.filter(({ block }) => block.endTokens > readTokens);
      for (const { block, isLong } of written) keep(block.prefixHash, isLong ? ttlMs.long : ttlMs.short);
      const longEnd = written.findLast(({ isLong }) => isLong)?.block.endTokens ?? readTokens;
      const end = written.at(-1)?.block.endTokens ?? readTokens;
      return { readTokens, writtenTokens: end - longEnd, writtenLongTokens: longEnd - readTokens };
    },

    useAutomatic({ blocks, tokens }, lifetimeMs) {
      const common = blocks.findLast(({ prefixHash }) => isWarm(prefixHash))?.endTokens ?? 0;
      for (const { prefixHash } of blocks) keep(prefixHash, lifetimeMs);
      const readTokens = inSteps(common);
      return { readTokens, writtenTokens: inSteps(tokens) - readTokens, writtenLongTokens: 0 };
    },
  };
}

function findBreakpoints({ blocks }: Prompt, rules: BreakpointRules): readonly Breakpoint[] {
  return blocks.flatMap((block, index) => {
    const control = block.cacheControl ?? (index === blocks.length - 1 ? rules.automatic : undefined);
    if (control === undefined || block.endTokens < rules.minimumTokens) return [];
    return [{ index, block, isLong: control['ttl'] === '1h' }];
  });
}

/** The longest warm prefix that one of the breakpoints reaches, itself being the first of the positions it tries. */
function findHit(
  blocks: readonly PromptBlock[],
  breakpoints: readonly Breakpoint[],
  isWarm: (hash: string) => boolean,
): PromptBlock | undefined {
  return breakpoints
    .toReversed()
    .map(({ index }) =>
      blocks
        .slice(Math.max(0, index - lookBackBlocks + 1), index + 1)
        .findLast(({ prefixHash }) => isWarm(prefixHash)),
    )
    .find((block) => block !== undefined);
}

function inSteps(tokens: number): number {
  return tokens < automaticMinimumTokens ? 0 : tokens - (tokens % automaticStepTokens);
}
