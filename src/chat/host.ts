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
  /** Writes a file for its owner alone, whole or not at all. */
  writePrivateFile(path: string, text: string): void;
  now(): Date;
}

export type ChatStyle = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';
