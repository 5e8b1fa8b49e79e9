import { existsSync } from 'node:fs';
import { readSession } from '../session-file.ts';
import type { ChatCommand } from './command.ts';

/** `/save`: the chat, now. */
export const save: ChatCommand = {
  name: 'save',
  usage: '[file]',
  summary: 'save now, or a copy to a file',
  async run(argument, chat) {
    const path = argument === '' ? chat.sessionPath : argument;
    if (path !== chat.sessionPath && isOther(path))
      chat.refuse('that file is there already and is no chat; nothing was written');
    else {
      chat.save(path);
      chat.say(`saved to ${path}`);
    }
    return 'stay';
  },
};

/** Whether a file of somebody else's would be lost. */
function isOther(path: string): boolean {
  return existsSync(path) && readSession(path) === undefined;
}
