import { existsSync } from 'node:fs';
import type { ChatCommand } from './command.ts';

/** `/save`: the chat, now. */
export const save: ChatCommand = {
  name: 'save',
  usage: '[file]',
  summary: 'save now, or a copy to a file',
  async run(argument, chat) {
    const path = argument === '' ? chat.sessionPath : argument;
    if (path !== chat.sessionPath && existsSync(path) && !chat.isOwnFile(path))
      chat.refuse('that file is there already and is no copy of this chat; nothing was written');
    else {
      chat.save(path);
      chat.say(`saved to ${path}`);
    }
    return 'stay';
  },
};
