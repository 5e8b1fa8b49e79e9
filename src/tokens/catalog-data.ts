import type { CacheTerms, ModelInfo, SteppedRates } from './model-info.ts';

// Figures are list prices in USD per million tokens and the windows of the providers' own documentation, each row as
// of its date. Truth at run time is the provider's model endpoint; overrides go before every row.
const asOf = '2026-11';
const summer = '2026-08';
const legacy = '2025-10';

type Shared = Omit<ModelInfo, 'id'>;
type Row = Pick<ModelInfo, 'id'> & Partial<Shared>;

/** Rows that have all but the named fields in common. */
function group(shared: Shared, rows: readonly Row[]): readonly ModelInfo[] {
  return rows.map((row) => ({ ...shared, ...row }));
}

function price(input: number, output: number, cacheRead?: number): SteppedRates {
  return { input, output, cacheRead };
}

/** The same prices with a step: `times` the input and cache prices above so many tokens, and `output` for the output. */
function stepped(prices: SteppedRates, step: { above: number; times: number; output: number }): SteppedRates {
  const dearer = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : value * step.times;
  const longContext = {
    abovePromptTokens: step.above,
    input: prices.input * step.times,
    output: step.output,
    cacheRead: dearer(prices.cacheRead),
    cacheWrite: dearer(prices.cacheWrite),
    cacheWriteLong: dearer(prices.cacheWriteLong),
  };
  return { ...prices, longContext };
}

/** Cache writes cost 1.25 times the input price for five minutes and twice the price for an hour. */
function claudePrice(input: number, output: number, cacheRead: number): SteppedRates {
  return { input, output, cacheRead, cacheWrite: input * 1.25, cacheWriteLong: input * 2 };
}

function cachedFrom(minimumPrefixTokens?: number): CacheTerms {
  return { writes: 'at-breakpoints', minimumPrefixTokens, ttlSeconds: [300, 3600], lookBackBlocks: 20 };
}

// Output limit of ordinary requests; batches may ask for more.
const claudeLong: Shared = {
  provider: 'anthropic',
  family: 'claude-4.7',
  windowTokens: 1_000_000,
  maxOutputTokens: 128_000,
  cache: cachedFrom(),
  asOf,
};
const claudeShort: Shared = {
  ...claudeLong,
  family: 'claude',
  windowTokens: 200_000,
  maxOutputTokens: 64_000,
};

const claude: readonly ModelInfo[] = [
  ...group(claudeLong, [
    { id: 'claude-fable-5-2', bindsReasoning: true },
    { id: 'claude-mythos-5-2', bindsReasoning: true },
    { id: 'claude-fable-5-1', bindsReasoning: true, prices: claudePrice(10, 50, 0.25) },
    { id: 'claude-mythos-5-1', bindsReasoning: true, prices: claudePrice(10, 50, 0.25) },
    { id: 'claude-fable-5', prices: claudePrice(10, 50, 1), cache: cachedFrom(512) },
    { id: 'claude-mythos-5', cache: cachedFrom(512) },
    // 512 is documented for sonnet-5-5 and taken to hold for opus-5-5 and haiku-5-5 as well.
    { id: 'claude-opus-5-5', bindsReasoning: true, prices: claudePrice(4, 20, 0.2), cache: cachedFrom(512) },
    { id: 'claude-opus-5', prices: claudePrice(5, 25, 0.5), cache: cachedFrom(512) },
    { id: 'claude-opus-4-8', prices: claudePrice(5, 25, 0.5), cache: cachedFrom(1024) },
    { id: 'claude-opus-4-7', prices: claudePrice(5, 25, 0.5), cache: cachedFrom(2048) },
    { id: 'claude-opus-4-6', family: 'claude', prices: claudePrice(5, 25, 0.5), cache: cachedFrom(4096) },
    {
      id: 'claude-sonnet-5-5',
      bindsReasoning: true,
      prices: claudePrice(2, 10, 0.2),
      cache: cachedFrom(512),
    },
    { id: 'claude-sonnet-5', prices: claudePrice(2, 10, 0.2), cache: cachedFrom(1024) },
    // Older tables say 200,000; the documentation gives every model from 4.6 on the long window.
    { id: 'claude-sonnet-4-6', family: 'claude', prices: claudePrice(3, 15, 0.3), cache: cachedFrom(1024) },
    {
      id: 'claude-haiku-5-5',
      prices: {
        ...claudePrice(0.1, 0.5, 0.01),
        longContext: { abovePromptTokens: 100_000, ...claudePrice(0.5, 2.5, 0.05) },
      },
      cache: cachedFrom(512),
    },
  ]),
  ...group(claudeShort, [
    { id: 'claude-opus-4-5', prices: claudePrice(5, 25, 0.5), cache: cachedFrom(4096) },
    { id: 'claude-sonnet-4-5', prices: claudePrice(3, 15, 0.3), cache: cachedFrom(1024) },
    { id: 'claude-haiku-4-5', prices: claudePrice(1, 5, 0.1), cache: cachedFrom(4096) },
  ]),
  ...group({ ...claudeShort, cache: cachedFrom(1024), asOf: legacy }, [
    { id: 'claude-opus-4-1', maxOutputTokens: 32_000, prices: claudePrice(15, 75, 1.5) },
    { id: 'claude-opus-4', maxOutputTokens: 32_000, prices: claudePrice(15, 75, 1.5) },
    { id: 'claude-sonnet-4', prices: claudePrice(3, 15, 0.3) },
    { id: 'claude-3-7-sonnet', prices: claudePrice(3, 15, 0.3) },
    { id: 'claude-3-5-sonnet', maxOutputTokens: 8192, prices: claudePrice(3, 15, 0.3) },
    {
      id: 'claude-3-5-haiku',
      maxOutputTokens: 8192,
      prices: claudePrice(0.8, 4, 0.08),
      cache: cachedFrom(2048),
    },
    { id: 'claude-3-opus', maxOutputTokens: 4096, prices: claudePrice(15, 75, 1.5) },
    { id: 'claude-3-sonnet', maxOutputTokens: 4096 },
    { id: 'claude-3-haiku', maxOutputTokens: 4096, cache: cachedFrom(2048) },
  ]),
];

// Writes are free. Kept for 5 to 60 minutes, or for a day on request.
const freeCache: CacheTerms = {
  writes: 'automatic',
  minimumPrefixTokens: 1024,
  ttlSeconds: [300, 86_400],
  expiresWithinSeconds: 3600,
  stepTokens: 128,
};
// From 5.6 on, writes cost 1.25 times the input price, happen at the end of a request, and the latest 80 are matched.
const paidCache: CacheTerms = {
  writes: 'automatic',
  minimumPrefixTokens: 1024,
  ttlSeconds: [1800, 43_200],
  stepTokens: 128,
  requestEndsMatched: 80,
};

const openai = { provider: 'openai', family: 'o200k', cache: freeCache, asOf } as const;
const gptMillion: Shared = {
  ...openai,
  windowTokens: 1_050_000,
  maxInputTokens: 922_000,
  maxOutputTokens: 128_000,
};
const gpt400k: Shared = {
  ...openai,
  windowTokens: 400_000,
  maxInputTokens: 272_000,
  maxOutputTokens: 128_000,
};
const gpt41: Shared = { ...openai, windowTokens: 1_047_576, maxOutputTokens: 32_768 };
const gpt128k: Shared = { ...openai, windowTokens: 128_000, maxOutputTokens: 16_384 };
const oSeries: Shared = { ...openai, windowTokens: 200_000, maxOutputTokens: 100_000, asOf: legacy };
const cl100k = { provider: 'openai', family: 'cl100k', maxOutputTokens: 4096, asOf: legacy } as const;

/** Above 272,000 tokens of input the whole request costs twice the input and one and a half times the output price. */
function gptPrice(input: number, output: number, cacheRead: number): SteppedRates {
  return stepped(price(input, output, cacheRead), { above: 272_000, times: 2, output: output * 1.5 });
}

function gptPaidPrice(input: number, output: number, cacheRead: number): SteppedRates {
  const prices = { input, output, cacheRead, cacheWrite: input * 1.25 };
  return stepped(prices, { above: 272_000, times: 2, output: output * 1.5 });
}

const gpt: readonly ModelInfo[] = [
  ...group({ ...gptMillion, cache: paidCache }, [
    { id: 'gpt-6.1-sol', prices: gptPaidPrice(2, 10, 0.1) },
    { id: 'gpt-6.1' },
    { id: 'gpt-6-astra', prices: gptPaidPrice(10, 50, 1) },
    { id: 'gpt-6-sol', prices: gptPaidPrice(2, 10, 0.2) },
    { id: 'gpt-6-luna', prices: gptPaidPrice(0.1, 0.5, 0.01) },
    { id: 'gpt-6' },
    { id: 'gpt-5.6-sol', prices: gptPaidPrice(4, 20, 0.4) },
    { id: 'gpt-5.6-terra', prices: gptPaidPrice(2, 12, 0.2) },
    { id: 'gpt-5.6-luna', prices: gptPaidPrice(0.2, 1.2, 0.02) },
    { id: 'gpt-5.6' },
  ]),
  ...group(gptMillion, [
    { id: 'gpt-5.5', prices: gptPrice(5, 30, 0.5) },
    { id: 'gpt-5.4', prices: gptPrice(2.5, 15, 0.25) },
  ]),
  ...group(gpt400k, [
    { id: 'gpt-5.4-mini', prices: price(0.75, 4.5, 0.075) },
    { id: 'gpt-5.3-codex', prices: price(1.75, 14, 0.175) },
    { id: 'gpt-5.3' },
    { id: 'gpt-5.2-codex', prices: price(1.75, 14, 0.175) },
    { id: 'gpt-5.2', prices: price(1.75, 14, 0.175) },
    { id: 'gpt-5.1-codex-max', prices: price(1.25, 10, 0.125), asOf: legacy },
    { id: 'gpt-5.1-codex-mini', prices: price(0.25, 2, 0.025), asOf: legacy },
    { id: 'gpt-5.1-codex', prices: price(1.25, 10, 0.125), asOf: legacy },
    { id: 'gpt-5.1', prices: price(1.25, 10, 0.125) },
    { id: 'gpt-5-codex', prices: price(1.25, 10, 0.125), asOf: legacy },
    { id: 'gpt-5', prices: price(1.25, 10, 0.125) },
    { id: 'gpt-5-mini', prices: price(0.25, 2, 0.025), asOf: legacy },
    { id: 'gpt-5-nano', prices: price(0.05, 0.4, 0.005), asOf: legacy },
  ]),
  ...group(gpt41, [
    { id: 'gpt-4.1', prices: price(2, 8, 0.5) },
    { id: 'gpt-4.1-mini', prices: price(0.4, 1.6, 0.1), asOf: legacy },
    { id: 'gpt-4.1-nano', prices: price(0.1, 0.4, 0.025), asOf: legacy },
  ]),
  ...group(gpt128k, [
    { id: 'gpt-4o', aliases: ['chatgpt-4o'], prices: price(2.5, 10, 1.25) },
    { id: 'gpt-4o-mini', prices: price(0.15, 0.6, 0.075), asOf: legacy },
    // The chat variants do not have the window of their family.
    { id: 'gpt-5-chat', prices: price(1.25, 10, 0.125), asOf: legacy },
    { id: 'gpt-5.1-chat' },
    { id: 'gpt-5.2-chat' },
    { id: 'o1-mini', maxOutputTokens: 65_536, asOf: legacy },
    { id: 'o1-preview', maxOutputTokens: 32_768, asOf: legacy },
  ]),
  ...group(oSeries, [
    { id: 'o4-mini', prices: price(1.1, 4.4, 0.275) },
    { id: 'o3', prices: price(2, 8, 0.5) },
    { id: 'o3-mini', prices: price(1.1, 4.4, 0.55) },
    { id: 'o1', prices: price(15, 60, 7.5) },
  ]),
  ...group({ ...cl100k, windowTokens: 128_000 }, [
    { id: 'gpt-4-turbo', prices: price(10, 30), aliases: ['gpt-4-1106', 'gpt-4-0125', 'gpt-4-vision'] },
    { id: 'gpt-4-32k', windowTokens: 32_768, prices: price(60, 120) },
    { id: 'gpt-4', windowTokens: 8192, maxOutputTokens: 8192, prices: price(30, 60) },
    {
      id: 'gpt-3.5-turbo',
      aliases: ['gpt-3.5', 'gpt-3.5-turbo-16k', 'gpt-35-turbo', 'gpt-35-turbo-16k'],
      windowTokens: 16_385,
      prices: price(0.5, 1.5),
    },
    { id: 'gpt-3.5-turbo-instruct', windowTokens: 4096, prices: price(1.5, 2) },
  ]),
];

// Implicit caching needs 1,024 to 4,096 tokens by model; the larger number is safe for all. No lifetime is promised.
const geminiCache: CacheTerms = { writes: 'automatic', minimumPrefixTokens: 4096 };
const geminiMillion: Shared = {
  provider: 'google',
  family: 'gemini',
  windowTokens: 1_048_576,
  maxOutputTokens: 65_536,
  cache: geminiCache,
  asOf,
};

const gemini: readonly ModelInfo[] = [
  ...group(geminiMillion, [
    {
      id: 'gemini-4-argon',
      prices: price(2, 10, 0.1),
      priceChanges: [{ from: '2026-12-01', prices: price(4, 20, 0.2) }],
    },
    { id: 'gemini-3.8-flash' },
    { id: 'gemini-3.6-flash', prices: price(1.5, 7.5, 0.15) },
    { id: 'gemini-3.5-flash', prices: price(1.5, 9, 0.15) },
    { id: 'gemini-3.1-pro', prices: stepped(price(2, 12, 0.2), { above: 200_000, times: 2, output: 18 }) },
    { id: 'gemini-3-pro' },
    { id: 'gemini-3-flash' },
    {
      id: 'gemini-2.5-pro',
      prices: stepped(price(1.25, 10, 0.125), { above: 200_000, times: 2, output: 15 }),
    },
    { id: 'gemini-2.5-flash', prices: price(0.3, 2.5, 0.03) },
    { id: 'gemini-2.5-flash-lite', prices: price(0.1, 0.4, 0.01), asOf: legacy },
  ]),
  ...group({ ...geminiMillion, maxOutputTokens: 8192, cache: undefined, asOf: legacy }, [
    { id: 'gemini-2.0-flash' },
    { id: 'gemini-1.5-pro', windowTokens: 2_097_152 },
    { id: 'gemini-1.5-flash' },
  ]),
];

// Prefix caching happens by itself and its writes are free.
const prefixCache: CacheTerms = { writes: 'automatic' };
const deepseek: Shared = {
  provider: 'deepseek',
  family: 'other',
  windowTokens: 1_000_000,
  cache: prefixCache,
  asOf: summer,
};
const grok: Shared = { ...deepseek, provider: 'xai' };
const gptOss: Shared = { ...deepseek, provider: 'groq', family: 'o200k', windowTokens: 131_072 };
const mistral: Shared = { provider: 'mistral', family: 'other', windowTokens: 262_144, asOf: summer };
const moonshot: Shared = { provider: 'moonshot', family: 'other', windowTokens: 262_144, asOf };
const llama: Shared = { provider: 'meta', family: 'other', windowTokens: 131_072, asOf: legacy };

const others: readonly ModelInfo[] = [
  ...group(deepseek, [
    { id: 'deepseek-v4-flash', prices: price(0.14, 0.28, 0.0028) },
    { id: 'deepseek-v4-pro', prices: price(0.435, 0.87, 0.0036) },
    { id: 'deepseek-v4' },
  ]),
  ...group(grok, [
    {
      id: 'grok-4.5',
      windowTokens: 500_000,
      prices: stepped(price(2, 6, 0.5), { above: 200_000, times: 2, output: 12 }),
    },
    { id: 'grok-4.3', prices: price(1.25, 2.5, 0.2) },
  ]),
  ...group(gptOss, [{ id: 'gpt-oss-120b', prices: price(0.15, 0.6, 0.075) }, { id: 'gpt-oss-20b' }]),
  ...group(mistral, [
    { id: 'mistral-large', prices: price(0.5, 1.5) },
    { id: 'mistral-large-2411', aliases: ['mistral-large-2407'], windowTokens: 131_072, asOf: legacy },
    { id: 'mistral-medium', windowTokens: 131_072, prices: price(1.5, 7.5) },
  ]),
  ...group(moonshot, [
    { id: 'kimi-k2' },
    { id: 'moonshot-v1-128k', windowTokens: 131_072, asOf: legacy },
    { id: 'moonshot-v1-32k', windowTokens: 32_768, asOf: legacy },
    { id: 'moonshot-v1-8k', windowTokens: 8192, asOf: legacy },
  ]),
  ...group(llama, [
    { id: 'llama-3.3', aliases: ['llama3.3', 'llama3-3', 'llama-v3p3', 'meta-llama-3.3'] },
    { id: 'llama-3.2', aliases: ['llama3.2', 'llama3-2', 'llama-v3p2', 'meta-llama-3.2'] },
    { id: 'llama-3.1', aliases: ['llama3.1', 'llama3-1', 'llama-v3p1', 'meta-llama-3.1'] },
    { id: 'llama-3', aliases: ['llama3', 'llama-v3', 'meta-llama-3'], windowTokens: 8192 },
    { id: 'llama-2', aliases: ['llama2', 'llama-v2'], windowTokens: 4096 },
  ]),
];

/** Every model known by name. Another model is another row; the longest id that fits a name is the one it means. */
export const catalog: readonly ModelInfo[] = [...claude, ...gpt, ...gemini, ...others];
