import type { Message } from '../conversation/message.ts';
import { openingText, readMarkedSummary, readOpenings } from '../conversation/summary-message.ts';

/** A memory in a conversation, as the model reads it. */
export interface CarriedMemory {
  /** Texts that stand in front of it in the same message, word for word. */
  readonly quoted: readonly string[];
  /** What stands between the delimiters. */
  readonly text: string;
}

/** The memories that stand for earlier messages of a conversation, in their order: mostly one, or none. */
export function carriedMemories(messages: readonly Message[]): readonly CarriedMemory[] {
  return messages.flatMap((message) => {
    const text = readMarkedSummary(message)?.summary;
    return text === undefined ? [] : [{ quoted: (readOpenings(message) ?? []).map(openingText), text }];
  });
}
