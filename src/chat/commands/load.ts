import { dirname } from 'node:path';
import { countOf } from '../../report/terminal.ts';
import type { Chat } from '../chat.ts';
import { gaugeText } from '../gauge.ts';
import { loadMessages } from '../load.ts';
import { newSessionPath } from '../session-file.ts';
import type { ChatCommand } from './command.ts';

/** `/load`: any conversation that can be read. */
export const load: ChatCommand = {
  name: 'load',
  usage: '<file>',
  summary: 'go on with what is in a file',
  async run(argument, chat) {
    if (argument === '') chat.refuse('say which file; nothing was changed');
    else {
      const { messages, changes } = await loadMessages(argument, chat.dialogue.wire.format);
      leaveFormer(chat);
      chat.dialogue.replace(messages);
      chat.changed();
      chat.say(`${countOf(messages.length, 'message')} loaded`);
      for (const change of changes) chat.say(chat.host.style('dim', `  ${change}`));
      chat.say(gaugeText(chat));
    }
    return 'stay';
  },
};

/** What was said so far stays in its file; what comes now is another chat. */
function leaveFormer(chat: Chat): void {
  if (chat.dialogue.isEmpty) return;
  chat.say(chat.keep() ? `the chat so far stays in ${chat.sessionPath}` : 'the chat so far was not saved');
  chat.sessionPath = newSessionPath(dirname(chat.sessionPath), chat.host.now());
}
