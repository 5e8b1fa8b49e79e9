/** Names that `--provider` takes; apart from the providers, so that help need not load them. */
export const providerNames = ['offline', 'anthropic', 'openai'] as const;

export type ProviderName = (typeof providerNames)[number];
