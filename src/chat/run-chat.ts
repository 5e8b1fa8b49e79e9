import { RoundfoldError } from '../conversation/errors.ts';
import { runTurn } from './agent-loop.ts';
import type { Chat } from './chat.ts';
import { isCommand, runCommand } from './commands/run-command.ts';
import { gaugeText } from './gauge.ts';
import type { EntrySource } from './input/entry-source.ts';

/** How a chat went. */
export interface ChatEnd {
  /** Turns that the provider failed to answer. */
  readonly failures: number;
}

/** Talks until there are no more entries, or somebody quits. Saves after every turn. */
export async function runChat(chat: Chat, entries: EntrySource): Promise<ChatEnd> {
  let failures = 0;
  for (;;) {
    const entry = await entries.next();
    if (entry === undefined) return { failures };
    if (entry.trim() === '') continue;
    const stop = new AbortController();
    const unlisten = entries.onCancel(() => stop.abort());
    try {
      if (isCommand(entry)) {
        if ((await runCommand(entry, chat, stop.signal)) === 'quit') return { failures };
        continue;
      }
      if ((await runTurn(chat, entry, stop.signal)) === 'failed') failures++;
      saveOrSay(chat);
      chat.say(gaugeText(chat));
    } finally {
      unlisten();
    }
  }
}

/** A disk that is full ends no chat. */
function saveOrSay(chat: Chat): void {
  try {
    chat.keep();
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    chat.refuse(`not saved: ${error.message}`, error.remedy);
  }
}
