import type { ChatCommand } from './command.ts';

/** `/quit`: the end. */
export const quit: ChatCommand = {
  name: 'quit',
  usage: '',
  summary: 'leave the chat (also: Ctrl-D)',
  run: async () => 'quit',
};
