import { printable } from '../../conversation/printable.ts';
import { findModel } from '../../tokens/catalog.ts';
import type { Chat } from '../chat.ts';
import { gaugeText } from '../gauge.ts';
import type { ChatCommand } from './command.ts';

/** The model and its provider, for people. */
export function whoAnswers({ dialogue: { model: name }, options: { provider } }: Chat): string {
  return name === provider.name
    ? 'no model (offline answers are made up, compactions are real)'
    : `${printable(name)} from ${provider.name}`;
}

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
    chat.say(`${whoAnswers(chat)}${note}`);
    if (argument !== '') chat.say(gaugeText(chat));
    return 'stay';
  },
};
