import type { Conversation } from '../../conversation/format.ts';
import type { Usage } from '../../conversation/message.ts';

/** One question to a model, without tools. */
export interface CompletionRequest {
  readonly system: string;
  readonly prompt: string;
  readonly maximumOutputTokens: number;
  /** Default: what the provider takes for granted. */
  readonly temperature?: number | undefined;
  /**
   * A conversation to send as it is, with `prompt` as one more user message behind it, so that the provider's prompt
   * cache is hit. `system` is not sent then: the conversation has its own. Tools stay; a call of one is an answer with stop `tool-call`.
   */
  readonly prefix?: Conversation | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why an answer ended. Only `end` is a whole one. */
export type CompletionStop = 'end' | 'length' | 'tool-call' | 'refusal' | 'context-full' | 'other';

export interface Completion {
  /** Text of the answer alone: no reasoning, no tool protocol. */
  readonly text: string;
  readonly stop: CompletionStop;
  readonly usage: Usage | undefined;
}

/** A model that can be asked. */
export interface ModelClient {
  readonly model: string;
  /**
   * @throws RoundfoldError `upstream` when the provider cannot be reached or refuses, with its error as the cause;
   *   the signal's reason when it was aborted
   */
  complete(request: CompletionRequest): Promise<Completion>;
}
