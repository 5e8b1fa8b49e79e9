/** What a provider said about a request that did not fit, in its own tokens: what `parseOverflow` finds in an error. */
export interface OverflowFacts {
  /** `output-too-large` is cured by less output, `media-limit` by less media, everything else by a shorter prompt. */
  readonly kind: string;
  readonly actualTokens?: number | undefined;
  readonly limitTokens?: number | undefined;
  readonly requestedOutputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  /** How much has to go; undefined when the provider did not say enough to know. */
  readonly excessTokens?: number | undefined;
  /** Whether the provider stopped counting, so that the prompt may be far longer than `actualTokens`. */
  readonly countIsLowerBound?: boolean | undefined;
}
