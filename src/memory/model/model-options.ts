import type { OverflowFacts } from '../../formats/overflow/detect.ts';

/** How a model is asked for summaries. */
export interface ModelSummarizerOptions {
  /**
   * What an error that a provider sent, or a client's function threw, says about size: `parseOverflow`. Undefined when it
   * is about something else. Such a failure is `input-too-long`, with the numbers by which the caller may try again with
   * fewer messages.
   */
  readonly overflowOf: (error: unknown) => OverflowFacts | undefined;
  /**
   * Window of the summarizing model. A prompt that does not fit is not sent. Default 0: unlimited, so that only the
   * provider can tell.
   */
  readonly windowTokens?: number | undefined;
  /**
   * Sends the conversation as it stands with one instruction behind it, so that the provider's prompt cache is hit.
   * Wants a client of the conversation's own format and model. The tools stay in the request, and a model that calls one
   * all the same is asked again without them. Default false. Does nothing for a bare list of messages, and where a tool
   * call is still open.
   */
  readonly reusesPrefix?: boolean | undefined;
  /** Default: none is sent, since newer models refuse any. */
  readonly temperature?: number | undefined;
  /** Output tokens besides the summary, for a draft or for hidden reasoning. Default 1024. */
  readonly reserveTokens?: number | undefined;
}
