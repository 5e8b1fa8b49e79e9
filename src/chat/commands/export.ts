import { existsSync } from 'node:fs';
import type { ChatCommand } from './command.ts';

/** `/export`: the request as a file. */
export const exportRequest: ChatCommand = {
  name: 'export',
  usage: '<file>',
  summary: 'write the next request to a new file',
  async run(argument, chat) {
    if (argument === '') chat.refuse('say which file');
    else if (existsSync(argument)) chat.refuse('that file is there already; nothing was written');
    else {
      const text = `${JSON.stringify(chat.dialogue.body, undefined, 2)}\n`;
      chat.host.writeConversation(argument, text, { isOwn: false, makesFolder: false });
      chat.say(`written to ${argument}`);
    }
    return 'stay';
  },
};
