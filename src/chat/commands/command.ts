import type { Chat } from '../chat.ts';

/** What a command does to the chat around it. */
export type CommandEffect = 'stay' | 'quit';

/** A slash command. Adding one is one file and one line in the registry; help and completion come from it. */
export interface ChatCommand {
  readonly name: string;
  /** What it takes, for help; empty for nothing. */
  readonly usage: string;
  readonly summary: string;
  /** Words that its first argument may be. */
  choices?(): readonly string[];
  run(argument: string, chat: Chat, signal: AbortSignal): Promise<CommandEffect>;
}
