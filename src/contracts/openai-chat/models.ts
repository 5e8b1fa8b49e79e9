interface ModelFamily {
  readonly name: string;
  /** Most tokens one answer may have. */
  readonly maxOutputTokens: number;
  /** Whether `max_tokens` is refused in favour of `max_completion_tokens`. */
  readonly reasons?: true;
  /** Whether `temperature` is refused unless it has its default. */
  readonly fixesSampling?: true;
}

// OpenAI model pages, November 2026. The first family that fits wins, so the narrower name stands first.
const families: readonly ModelFamily[] = [
  { name: 'gpt-3.5-turbo', maxOutputTokens: 4096 },
  { name: 'gpt-4-turbo', maxOutputTokens: 4096 },
  { name: 'gpt-4o-2024-05-13', maxOutputTokens: 4096 },
  { name: 'gpt-4o', maxOutputTokens: 16_384 },
  { name: 'gpt-4.1', maxOutputTokens: 32_768 },
  { name: 'gpt-5-chat', maxOutputTokens: 16_384 },
  { name: 'gpt-5', maxOutputTokens: 128_000, reasons: true, fixesSampling: true },
  ...['gpt-5.1', 'gpt-5.2', 'gpt-5.3', 'gpt-5.4', 'gpt-5.5', 'gpt-5.6', 'gpt-6', 'gpt-6.1'].map(
    (name): ModelFamily => ({ name, maxOutputTokens: 128_000, reasons: true }),
  ),
  { name: 'o1-preview', maxOutputTokens: 32_768, reasons: true, fixesSampling: true },
  { name: 'o1-mini', maxOutputTokens: 65_536, reasons: true, fixesSampling: true },
  { name: 'o1', maxOutputTokens: 100_000, reasons: true, fixesSampling: true },
  { name: 'o3', maxOutputTokens: 100_000, reasons: true, fixesSampling: true },
  { name: 'o4-mini', maxOutputTokens: 100_000, reasons: true, fixesSampling: true },
];

/** The family a model name belongs to; undefined for models that are not known, which are then held to nothing. */
export function findModelFamily(model: string | undefined): ModelFamily | undefined {
  if (model === undefined) return undefined;
  return families.find(({ name }) => model === name || model.startsWith(`${name}-`));
}
