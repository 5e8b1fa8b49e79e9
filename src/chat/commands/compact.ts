import { compactNow } from '../compaction.ts';
import type { ChatCommand } from './command.ts';
import { readStrategy, strategyChoices } from './strategy-words.ts';

/** `/compact`: now, with the configured strategy or with another one. */
export const compact: ChatCommand = {
  name: 'compact',
  usage: '[strategy] [key=value…]',
  summary: 'compact now, as configured or otherwise',
  choices: strategyChoices,
  async run(argument, chat, signal) {
    const named = readStrategy(argument, chat);
    if (named !== undefined) {
      await compactNow(chat, named, signal);
      if (!chat.dialogue.isEmpty) chat.save();
    }
    return 'stay';
  },
};
