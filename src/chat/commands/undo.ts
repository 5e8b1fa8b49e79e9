import type { Chat } from '../chat.ts';
import type { Change } from '../dialogue.ts';
import type { ChatCommand, CommandEffect } from './command.ts';

/** `/undo`: the conversation as it was before the newest compaction, and what was said since. */
export const undo: ChatCommand = {
  name: 'undo',
  usage: '',
  summary: 'take the newest compaction back',
  run: async (_argument, chat) => tell(chat, chat.dialogue.undo(), 'undone'),
};

/** `/redo`: the compaction that was taken back last. */
export const redo: ChatCommand = {
  name: 'redo',
  usage: '',
  summary: 'do again what was undone',
  run: async (_argument, chat) => tell(chat, chat.dialogue.redo(), 'done again'),
};

function tell(chat: Chat, change: Change | undefined, word: string): CommandEffect {
  if (change === undefined) {
    chat.refuse(`there is nothing to be ${word}`);
    return 'stay';
  }
  chat.changed();
  chat.keep();
  chat.say(`${change.strategy} was ${word}: ${chat.dialogue.messages.length} messages`);
  return 'stay';
}
