import { printable, printableLines } from '../../core/printable.ts';

import type { ChatCommand } from './command.ts';

/** `/recall`: what has left the conversation. */
export const recall: ChatCommand = {
  name: 'recall',
  usage: '<handle|words>',
  summary: 'read what has left (needs --store)',
  async run(argument, chat) {
    const { archive } = chat.options;
    if (archive === undefined)
      chat.refuse('nothing is kept without a store', 'Start the chat with --store FILE.');
    else if (argument === '') chat.refuse('say what to look for: a handle, or words');
    else if (argument.startsWith('rf:')) {
      const span = await archive.recall(argument);
      if (span === undefined) chat.refuse('nothing is kept under that handle');
      else chat.say(printableLines(span.text));
    } else {
      const found = await archive.search(argument);
      for (const { handle, excerpt } of found) chat.say(`${handle}  ${printable(excerpt, 100)}`);
      if (found.length === 0) chat.say('nothing that has left contains all of these words');
    }
    return 'stay';
  },
};
