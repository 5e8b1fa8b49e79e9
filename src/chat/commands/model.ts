import { printable } from '../../core/printable.ts';
import { findModel } from '../../models/catalog.ts';
import { gaugeText } from '../gauge.ts';
import type { ChatCommand } from './command.ts';

/** `/model`: who answers. */
export const model: ChatCommand = {
  name: 'model',
  usage: '[name]',
  summary: 'show the model, or go on with another',
  async run(argument, chat) {
    const { provider } = chat.options;
    if (/\s/.test(argument)) {
      chat.refuse('the name of a model has no blanks; nothing was changed');
      return 'stay';
    }
    if (argument !== '') chat.useModel(argument);
    const isKnown = chat.dialogue.model === provider.name || findModel(chat.dialogue.model) !== undefined;
    const note = isKnown ? '' : ' (not in the catalog: its window is a guess)';
    chat.say(`${printable(chat.dialogue.model)} from ${provider.name}${note}`);
    if (argument !== '') chat.say(gaugeText(chat));
    return 'stay';
  },
};
