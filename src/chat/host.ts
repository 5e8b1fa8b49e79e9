/** What the chat needs of the program around it. */
export interface ChatHost {
  /** Writes to the screen, or to whatever stands for it. */
  out(text: string): void;
  style(style: ChatStyle, text: string): string;
  /** As wide as the screen is now. */
  columns(): number;
  /** Whether to draw with plain characters. */
  readonly isPlain: boolean;
  /** The name that somebody meant who wrote another one. */
  nearest(word: string, names: readonly string[]): string | undefined;
  /**
   * Writes a conversation for its owner alone, whole or not at all.
   * @throws RoundfoldError `usage` when it cannot be written, or when a file is there that `place` does not give up
   */
  writeConversation(path: string, text: string, place: ConversationPlace): void;
  now(): Date;
}

/** What is known of the place where a conversation is written. */
export interface ConversationPlace {
  /** Whether the file is this chat's own, so that it may be replaced. */
  readonly isOwn: boolean;
  /** Whether the folder is made when it is not there. */
  readonly makesFolder: boolean;
}

export type ChatStyle = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';
