import type { ChatCommand } from './command.ts';

/** `/save`: the chat, now. */
export const save: ChatCommand = {
  name: 'save',
  usage: '[file]',
  summary: 'save now, or a copy to a file',
  async run(argument, chat) {
    const path = argument === '' ? chat.sessionPath : argument;
    chat.save(path);
    chat.say(`saved to ${path}`);
    return 'stay';
  },
};
