import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { contextWindowForModel, defaultWindowTokens, findModel } from './catalog.ts';
import { catalog } from './catalog-data.ts';
import type { ModelInfo } from './model-info.ts';

describe('findModel', () => {
  it.each([
    { name: 'claude-opus-4-5-20251101', id: 'claude-opus-4-5' },
    { name: 'Claude-Sonnet-4-5', id: 'claude-sonnet-4-5' },
    { name: 'claude-sonnet-4-20250514', id: 'claude-sonnet-4' },
    { name: 'anthropic/claude-sonnet-4.5', id: 'claude-sonnet-4-5' },
    { name: 'anthropic/claude-3.7-sonnet:thinking', id: 'claude-3-7-sonnet' },
    { name: 'openrouter/anthropic/claude-opus-5', id: 'claude-opus-5' },
    { name: 'litellm_proxy/claude-haiku-4-5', id: 'claude-haiku-4-5' },
    { name: 'us.anthropic.claude-3-5-sonnet-20241022-v2:0', id: 'claude-3-5-sonnet' },
    { name: 'bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0', id: 'claude-sonnet-4-5' },
    {
      name: 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1',
      id: 'claude-opus-4-6',
    },
    { name: 'vertex_ai/claude-sonnet-4-5@20250929', id: 'claude-sonnet-4-5' },
    { name: 'models/gemini-2.5-pro', id: 'gemini-2.5-pro' },
    { name: 'gemini-2.5-pro-preview-06-05', id: 'gemini-2.5-pro' },
    { name: 'gemini-2.5-flash-lite-preview-09-2025', id: 'gemini-2.5-flash-lite' },
    { name: 'accounts/fireworks/models/llama-v3p1-70b-instruct', id: 'llama-3.1' },
    { name: 'meta-llama/Llama-3.1-8B-Instruct', id: 'llama-3.1' },
    { name: 'meta-llama/llama-3.3-70b-instruct:free', id: 'llama-3.3' },
    { name: 'us.meta.llama3-3-70b-instruct-v1:0', id: 'llama-3.3' },
    { name: 'llama3.1:8b', id: 'llama-3.1' },
    { name: 'llama3:latest', id: 'llama-3' },
    { name: 'gpt-4o-2024-08-06', id: 'gpt-4o' },
    { name: 'gpt-4o-mini-2024-07-18', id: 'gpt-4o-mini' },
    { name: 'chatgpt-4o-latest', id: 'gpt-4o' },
    { name: 'openai/o3', id: 'o3' },
    { name: 'o3-mini-high', id: 'o3-mini' },
    { name: 'gpt-4.1', id: 'gpt-4.1' },
    { name: 'gpt-4-0613', id: 'gpt-4' },
    { name: 'gpt-4-1106-preview', id: 'gpt-4-turbo' },
    { name: 'gpt-4-32k-0613', id: 'gpt-4-32k' },
    { name: 'gpt-5-chat-latest', id: 'gpt-5-chat' },
    { name: 'gpt-5.4-2026-03-05', id: 'gpt-5.4' },
    { name: 'openai/gpt-oss-120b', id: 'gpt-oss-120b' },
    { name: 'mistral-large-2411', id: 'mistral-large-2411' },
    { name: 'mistral-large-latest', id: 'mistral-large' },
  ])('knows that $name means $id', ({ name, id }) => {
    expect(findModel(name)?.id).toBe(id);
  });

  it.each([
    { name: 'claude-opus-5-6', why: 'is another version' },
    { name: 'gpt-5.7', why: 'is another version' },
    { name: 'gpt-4.5', why: 'is not gpt-4' },
    { name: 'gemini-4-argon-mini', why: 'is a smaller sibling' },
    { name: 'gpt-5.3-codex-spark', why: 'is a smaller sibling' },
    { name: 'gemini-2.5-flash-image', why: 'makes images' },
    { name: 'my-gpt-4', why: 'only contains an id' },
    { name: 'gpt-4ever', why: 'only begins like an id' },
    { name: 'llama-30b', why: 'only begins like an id' },
    { name: 'constructor', why: 'is a key of every object' },
    { name: '__proto__', why: 'is a key of every object' },
    { name: `${'openai/'.repeat(100)}gpt-4o`, why: 'is longer than any name' },
    { name: '', why: 'is empty' },
    { name: '/', why: 'is no name' },
  ])('does not guess at a name that $why: $name', ({ name }) => {
    expect(findModel(name)).toBeUndefined();
  });

  it('keeps the window and drops the prices of a variant it does not know', () => {
    expect(findModel('gpt-4o-audio-preview')).toMatchObject({ id: 'gpt-4o', windowTokens: 128_000 });
    expect(findModel('gpt-4o-audio-preview')?.prices).toBeUndefined();
    expect(findModel('gpt-4o-2024-08-06')?.prices).toMatchObject({ input: 2.5, output: 10, cacheRead: 1.25 });
  });

  it('has the very row when the name says nothing more', () => {
    const row = catalog.find(({ id }) => id === 'gpt-4o');

    expect(findModel('openai/gpt-4o-2024-08-06')).toBe(row);
  });
});

describe('overrides', () => {
  const mine: ModelInfo = {
    id: 'acme/tuned-model',
    provider: 'acme',
    family: 'other',
    windowTokens: 50_000,
    asOf: '2026-11',
  };
  const overrides = [mine, { ...mine, id: 'gpt-4o', windowTokens: 64_000 }, { ...mine, id: 'gpt-4o' }];

  it.each([
    { name: 'acme/tuned-model', windowTokens: 50_000 },
    { name: 'gateway/ACME/tuned-model-latest', windowTokens: 50_000 },
    { name: 'gpt-4o', windowTokens: 64_000 },
    { name: 'openai/gpt-4o-2024-08-06', windowTokens: 64_000 },
    { name: 'gpt-4o[1m]', windowTokens: 1_000_000 },
    { name: 'gpt-4o-mini', windowTokens: 128_000 },
    { name: 'gpt-4.1', windowTokens: 1_047_576 },
  ])('$name has $windowTokens', ({ name, windowTokens }) => {
    expect(contextWindowForModel(name, { overrides })).toBe(windowTokens);
  });
});

describe('contextWindowForModel', () => {
  it.each([
    // Older tables say 200,000 for claude-sonnet-4-6; the provider's documentation says a million.
    { name: 'claude-sonnet-4-6', windowTokens: 1_000_000 },
    { name: 'gpt-4o', windowTokens: 128_000 },
    { name: 'gpt-4', windowTokens: 8192 },
    { name: 'gpt-4.1', windowTokens: 1_047_576 },
    { name: 'gpt-4-turbo', windowTokens: 128_000 },
    { name: 'gpt-3.5-turbo', windowTokens: 16_385 },
    { name: 'gpt-3.5-turbo-16k', windowTokens: 16_385 },
    { name: 'llama-3.1-70b', windowTokens: 131_072 },
    { name: 'openai/o3', windowTokens: 200_000 },
    { name: 'o1-2024-12-17', windowTokens: 200_000 },
    { name: 'claude-haiku-5-5', windowTokens: 1_000_000 },
    { name: 'claude-haiku-4-5', windowTokens: 200_000 },
    { name: 'gpt-6.1-sol', windowTokens: 1_050_000 },
    { name: 'gpt-5.2', windowTokens: 400_000 },
    { name: 'gpt-5.4-mini', windowTokens: 400_000 },
    { name: 'gemini-4-argon', windowTokens: 1_048_576 },
    { name: 'gemini-3.1-pro', windowTokens: 1_048_576 },
    { name: 'deepseek-v4-pro', windowTokens: 1_000_000 },
    { name: 'grok-4.5', windowTokens: 500_000 },
    { name: 'mistral-large', windowTokens: 262_144 },
    { name: 'groq/openai/gpt-oss-120b', windowTokens: 131_072 },
    { name: 'moonshotai/kimi-k2-0905', windowTokens: 262_144 },
  ])('$name has $windowTokens', ({ name, windowTokens }) => {
    expect(contextWindowForModel(name)).toBe(windowTokens);
  });

  it.each([
    { name: 'claude-sonnet-4-5[1m]', windowTokens: 1_000_000 },
    { name: 'claude-opus-4-6[200k]', windowTokens: 200_000 },
    { name: 'claude-sonnet-4-5-20250929[1M]', windowTokens: 1_000_000 },
    { name: 'anthropic.claude-3-sonnet-20240229-v1:0:28k', windowTokens: 28_000 },
    { name: 'gpt-4o-64k', windowTokens: 64_000 },
    { name: 'phi-3-mini-128k-instruct', windowTokens: 128_000 },
    { name: 'some-model-32k', windowTokens: 32_000 },
    { name: 'qwen2.5-7b-instruct-1m', windowTokens: 1_000_000 },
    { name: 'moonshot-v1-128k', windowTokens: 131_072 },
    { name: 'gpt-4-32k', windowTokens: 32_768 },
  ])('a window in the name counts: $name has $windowTokens', ({ name, windowTokens }) => {
    expect(contextWindowForModel(name)).toBe(windowTokens);
  });

  it.each([
    { name: '200000', windowTokens: 200_000 },
    { name: '32k', windowTokens: 32_000 },
    { name: ' 1M ', windowTokens: 1_000_000 },
    { name: '[200k]', windowTokens: 200_000 },
    { name: '0', windowTokens: defaultWindowTokens },
  ])('a bare window is taken as such: $name', ({ name, windowTokens }) => {
    expect(contextWindowForModel(name)).toBe(windowTokens);
  });

  it.each(['nobody-knows-me', 'smollm-135m', 'team-32k/unknown', '', 'x'.repeat(100_000)])(
    'an unknown model has the cautious default (%#)',
    (name) => {
      expect(contextWindowForModel(name)).toBe(128_000);
    },
  );

  it('a stated window takes the limit on input with it', () => {
    expect(findModel('gpt-5')?.maxInputTokens).toBe(272_000);
    expect(findModel('gpt-5-128k')).toMatchObject({ windowTokens: 128_000, maxInputTokens: undefined });
  });
});

describe('prices', () => {
  it.each([
    { on: undefined, input: 2, output: 10, cacheRead: 0.1 },
    { on: '2026-11-30', input: 2, output: 10, cacheRead: 0.1 },
    { on: '2026-12-01', input: 4, output: 20, cacheRead: 0.2 },
    { on: '2027-01-01T12:00:00Z', input: 4, output: 20, cacheRead: 0.2 },
  ])('gemini-4-argon costs $input on $on', ({ on, ...prices }) => {
    expect(findModel('gemini-4-argon', { on })?.prices).toEqual(prices);
  });

  it.each(['tomorrow', '2026', '2026-13-01', ''])('refuses "%s" as a date, known model or not', (on) => {
    expect(() => findModel('gpt-4', { on })).toThrow(/is no date/);
    expect(() => contextWindowForModel('unknown', { on })).toThrow(/is no date/);
  });

  it('states the step for long prompts for the whole request', () => {
    expect(findModel('gpt-5.5')?.prices?.longContext).toEqual({
      abovePromptTokens: 272_000,
      input: 10,
      output: 45,
      cacheRead: 1,
    });
    expect(findModel('claude-haiku-5-5')?.prices?.longContext).toMatchObject({
      abovePromptTokens: 100_000,
      input: 0.5,
      output: 2.5,
      cacheRead: 0.05,
    });
    expect(findModel('gemini-3.1-pro')?.prices?.longContext).toMatchObject({ input: 4, output: 18 });
  });

  it('states writes and lifetimes of the cache', () => {
    expect(findModel('claude-opus-5-5')).toMatchObject({
      prices: { cacheRead: 0.2, cacheWrite: 5, cacheWriteLong: 8 },
      cache: { writes: 'at-breakpoints', minimumPrefixTokens: 512, ttlSeconds: [300, 3600] },
    });
    expect(findModel('gpt-6-astra')).toMatchObject({
      prices: { cacheWrite: 12.5 },
      cache: { ttlSeconds: [1800, 43_200] },
    });
    expect(findModel('gpt-4o')?.prices?.cacheWrite).toBeUndefined();
  });
});

describe('the catalog', () => {
  const prefixes = [
    '',
    'anthropic/',
    'openai/',
    'openrouter/anthropic/',
    'litellm_proxy/',
    'us.anthropic.',
    'global.meta.',
    'vertex_ai/',
    'models/',
    'accounts/fireworks/models/',
  ];
  const suffixes = [
    '',
    '-20251101',
    '@20250929',
    '-2024-08-06',
    '-latest',
    ':free',
    '-v2:0',
    '-preview',
    '-high',
  ];
  const names = catalog.flatMap((row) => [row.id, ...(row.aliases ?? [])].map((name) => ({ name, row })));

  test.prop([
    fc.constantFrom(...names),
    fc.constantFrom(...prefixes),
    fc.array(fc.constantFrom(...suffixes), { maxLength: 3 }),
    fc.boolean(),
  ])('finds the same row under every known prefix and suffix', ({ name, row }, prefix, ends, isUpper) => {
    const longer = names.filter((other) => other.name.length > name.length);
    // `o1` with `-preview` behind it is a model of its own.
    fc.pre(!longer.some((other) => `${name}${ends.join('')}`.startsWith(other.name)));
    const full = `${prefix}${name}${ends.join('')}`;

    expect(findModel(isUpper ? full.toUpperCase() : full)).toBe(row);
  });

  it('has no name twice', () => {
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
  });

  it.each(catalog)('$id is plausible and dated', (row) => {
    const { windowTokens, maxInputTokens = 1, maxOutputTokens = 1, prices, asOf } = row;

    expect(asOf).toMatch(/^20\d\d-\d\d$/);
    expect(maxInputTokens).toBeLessThan(windowTokens);
    expect(maxOutputTokens).toBeLessThanOrEqual(windowTokens);
    if (prices === undefined) return;
    expect(prices.output).toBeGreaterThan(prices.input);
    expect(prices.cacheRead ?? 0).toBeLessThan(prices.input);
    expect(prices.longContext?.input ?? Number.POSITIVE_INFINITY).toBeGreaterThan(prices.input);
  });

  test.prop([
    fc.string(),
    fc.string({ unit: fc.constantFrom('-', ':', '@', '[', '4', 'k', 'm', ']', '/', '.') }),
  ])('answers any name with a positive window', (head, tail) => {
    expect(contextWindowForModel(`${head}${tail}`)).toBeGreaterThan(0);
    expect(contextWindowForModel(`gpt-4${tail}`)).toBeGreaterThan(0);
  });
});
