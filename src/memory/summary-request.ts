import type { Conversation } from '../conversation/format.ts';
import type { Message, Usage } from '../conversation/message.ts';
import type { OverflowFacts } from '../formats/overflow/detect.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';

/** What a summarizer is given. It sees nothing else, and a summary covers exactly these messages. */
export interface SummaryRequest {
  /** The messages to summarise, in order. */
  readonly messages: readonly Message[];
  /** Those of them that a model can be shown, where all of them would be too long for it. Default: all. */
  readonly shown?: readonly Message[] | undefined;
  /** The whole conversation they come from, for a summarizer that sends the same prefix again. */
  readonly conversation: Conversation;
  /** A summary of what stood before them, to be carried on; undefined when there is none. */
  readonly previousSummary: string | undefined;
  /** Texts that stand in front of the summary in the same message, word for word. Default: none. */
  readonly quoted?: readonly string[] | undefined;
  /** Where the messages can be read again: under this handle, each from this page on. Undefined where nothing is kept. */
  readonly archive?: SummaryArchive | undefined;
  /** What the user wants kept, in the user's words. */
  readonly instructions: string | undefined;
  /** What software found in the messages, for a model to work from. Default: nothing. */
  readonly facts?: string | undefined;
  /** The summary may have so many tokens at most. */
  readonly maximumTokens: number;
  /** What prose may have of them, where the summarizer writes no memory. Default: half, and 8,000 at most. */
  readonly proseTokens?: number | undefined;
  readonly estimator: TokenEstimator;
  readonly signal: AbortSignal | undefined;
  /** Lets others run between the parts of long work. Default: nobody waits. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/** Where messages that a summary stands for can be read again. */
export interface SummaryArchive {
  readonly handle: string;
  /** The number of the page on which a message begins; undefined for a message that is not there. */
  pageOf(message: Message): number | undefined;
}

/** Why there is no summary. */
export type SummaryFailure =
  | 'empty'
  | 'refused'
  | 'nonsense'
  | 'called-a-tool'
  | 'truncated'
  | 'too-large'
  | 'not-smaller'
  | 'input-too-long'
  | 'upstream'
  | 'timed-out'
  | 'aborted';

export type SummaryOutcome =
  | { readonly status: 'summarized'; readonly text: string; readonly usage: Usage | undefined }
  | {
      readonly status: 'failed';
      readonly reason: SummaryFailure;
      /** For people, with what can be done about it. */
      readonly message: string;
      /** What was spent all the same. */
      readonly usage: Usage | undefined;
      /** With `input-too-long`, where it is known: how large the messages were in the prompt, and how much of them must go. */
      readonly overflow?: OverflowFacts | undefined;
    };

/** Rounds in, summary out. Expected failures are outcomes; nothing is thrown for them. */
export interface Summarizer {
  readonly name: string;
  /** Whether a run asks a model, and so costs money. */
  readonly asksModel: boolean;
  /** The model it asks, by whose price its calls are counted. Default: not known. */
  readonly model?: string | undefined;
  /**
   * Whether what it writes is a whole memory. Default: it writes prose about what happened, and our own memory keeps what the
   * user said, how things stand and the files around it.
   */
  readonly writesMemory?: boolean | undefined;
  summarize(request: SummaryRequest): Promise<SummaryOutcome>;
}

/** What a summarizer answers, judged: it may be anybody's, and may throw, say nothing, or say too much. */
export async function askSummarizer(
  summarizer: Summarizer,
  request: SummaryRequest,
): Promise<SummaryOutcome> {
  try {
    const outcome = await summarizer.summarize(request);
    if (outcome.status === 'failed') return outcome;
    const { usage } = outcome;
    if (outcome.text.trim() === '')
      return { status: 'failed', reason: 'empty', message: 'the summary is empty', usage };
    const tokens = Math.round(request.estimator.countText(outcome.text));
    if (tokens <= request.maximumTokens) return outcome;
    const message = `the summary has ${tokens} tokens, more than the ${request.maximumTokens} it may have`;
    return { status: 'failed', reason: 'too-large', message, usage };
  } catch (error) {
    const reason = request.signal?.aborted === true ? 'aborted' : 'upstream';
    return { status: 'failed', reason, message: `the summarizer failed: ${String(error)}`, usage: undefined };
  }
}
