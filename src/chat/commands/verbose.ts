import type { ChatCommand } from './command.ts';

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['yes', true],
  ['true', true],
  ['off', false],
  ['no', false],
  ['false', false],
]);

/** `/verbose`: whether every compaction is shown. */
export const verbose: ChatCommand = {
  name: 'verbose',
  usage: '[on|off]',
  summary: 'show every compaction, before and after',
  choices: () => ['on', 'off'],
  async run(argument, chat) {
    const wanted = argument === '' ? !chat.isVerbose : WORDS.get(argument.toLowerCase());
    if (wanted === undefined) chat.refuse('that is neither on nor off; nothing was changed');
    else {
      chat.isVerbose = wanted;
      chat.say(`verbose is ${wanted ? 'on' : 'off'}`);
    }
    return 'stay';
  },
};
