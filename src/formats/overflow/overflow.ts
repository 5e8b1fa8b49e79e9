/**
 * What kind of "too large" a provider reported, named by its cure.
 *
 * - `prompt-too-long`: the prompt alone exceeds the window; shrink the prompt
 * - `output-too-large`: the prompt fits, prompt plus requested output does not; lower the output limit
 * - `rate-window`: one request asks for more than the tokens-per-minute limit; shrink to the limit, waiting never helps
 * - `body-too-large`: too many bytes; media goes first
 * - `media-limit`: too many or too large images or pages; strip media, not history
 * - `soft`: an answer with HTTP 200 that shows that the context was full or silently cut
 */
export type OverflowKind =
  | 'prompt-too-long'
  | 'output-too-large'
  | 'rate-window'
  | 'body-too-large'
  | 'media-limit'
  | 'soft';

/** A provider's statement that something did not fit. Numbers are the provider's own, in its own tokens. */
export interface Overflow {
  readonly kind: OverflowKind;
  /** Whose wording, code or sign was recognised. Compatible servers share wordings, so it need not be who sent it. */
  readonly provider: string;
  /** Size of the prompt. */
  readonly actualTokens?: number | undefined;
  /** The window, or the rate limit for `rate-window`. */
  readonly limitTokens?: number | undefined;
  readonly requestedOutputTokens?: number | undefined;
  /** Prompt and requested output together. */
  readonly totalTokens?: number | undefined;
  /** How much must go, always above 0; undefined when the provider did not say enough to know. */
  readonly excessTokens?: number | undefined;
  /**
   * Set when the server stopped counting: the prompt is at least `actualTokens`, perhaps far more, so no excess can
   * be computed from it. Use a count of your own.
   */
  readonly countIsLowerBound?: true | undefined;
  /** The words that were recognised, shortened. */
  readonly message: string;
}
