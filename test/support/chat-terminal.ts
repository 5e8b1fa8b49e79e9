import { join } from 'node:path';
import { afterEach } from 'vitest';
import { savedMessages } from './chat-file.ts';
import type { TemporaryFolder } from './temporary-folder.ts';
import { openTerminal, type SessionOptions, type TerminalSession } from './terminal-session.ts';

/** A chat in a terminal, and the file it is saved to. */
export interface OpenChat {
  readonly chat: TerminalSession;
  readonly file: string;
  /** The saved messages, one JSON text each. */
  messages(): readonly string[];
}

export type OpenChatWith = (args?: readonly string[], options?: Partial<SessionOptions>) => Promise<OpenChat>;

/** Opens chats that work in a folder; they end with the test. */
export function chatOpener(folder: TemporaryFolder): OpenChatWith {
  const open: TerminalSession[] = [];
  let count = 0;
  afterEach(() => {
    for (const chat of open.splice(0)) chat.end();
  });
  return async (args = [], options = {}) => {
    const file = join(folder.path, `chat-${++count}.jsonl`);
    const session = args.includes('--session') ? [] : ['--session', file];
    const chat = openTerminal(['chat', ...session, ...args], { cwd: folder.path, ...options });
    open.push(chat);
    await chat.until('the first prompt', (text) => text.endsWith('\n>'));
    return { chat, file, messages: () => savedMessages(file) };
  };
}
