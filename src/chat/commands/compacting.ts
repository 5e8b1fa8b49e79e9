/** Slash commands about compactions: /compact, /preview, /undo, /redo, /verbose. */

import { changeOf } from '../../compaction/plan/strategy.ts';
import { preview as drawPreview } from '../../report/preview.ts';
import type { Chat } from '../chat.ts';
import { compactNow } from '../compaction.ts';
import type { Change } from '../dialogue.ts';
import type { ChatCommand, CommandEffect } from './command.ts';
import { readStrategy, strategyChoices } from './strategy-words.ts';

/** `/compact`: compacts now, with the configured strategy or with another one. */
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

/** `/preview`: shows what a strategy would do. */
export const preview: ChatCommand = {
  name: 'preview',
  usage: '[strategy] [key=value…]',
  summary: 'show what /compact would do',
  choices: strategyChoices,
  async run(argument, chat, signal) {
    const named = readStrategy(argument, chat);
    if (named === undefined) return 'stay';
    const { dialogue, host } = chat;
    const { usage } = chat.tokens();
    const outcome = await chat.compactor.tryOut(dialogue.body, named, { usage, signal });
    chat.paidForSummary(outcome.usage);
    const change = changeOf(outcome);
    if (change !== undefined)
      host.out(drawPreview(dialogue.read(), change, { columns: host.columns(), estimator: chat.estimator }));
    if (outcome.status !== 'compacted') {
      const words = change === undefined ? 'it would do nothing' : 'it would not be enough';
      chat.say(host.style('dim', `${words}: ${outcome.message}`));
    }
    return 'stay';
  },
};

/** `/undo`: takes the newest compaction back; what was said since stays. */
export const undo: ChatCommand = {
  name: 'undo',
  usage: '',
  summary: 'take the newest compaction back',
  run: async (_argument, chat) => tell(chat, chat.dialogue.undo(), 'undone'),
};

/** `/redo`: does the compaction again that was taken back last. */
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

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['yes', true],
  ['true', true],
  ['off', false],
  ['no', false],
  ['false', false],
]);

/** `/verbose`: chooses whether every compaction is shown. */
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
