import type { JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import type { Wire } from './wire.ts';

/** What a provider answers with. */
export interface Answer {
  /** The assistant's message, as it goes into the list. */
  readonly message: unknown;
  readonly usage: Usage | undefined;
}

export interface AskOptions {
  /** Text as it comes. */
  onText(piece: string): void;
  readonly signal: AbortSignal;
}

/** Whoever answers in a chat. */
export interface ChatProvider {
  readonly name: string;
  readonly wire: Wire;
  /**
   * @throws RoundfoldError `upstream` when the provider cannot be reached or refuses; the signal's reason when it was aborted
   */
  ask(body: JsonObject, options: AskOptions): Promise<Answer>;
}
