import { changeOf } from '../../compaction/plan/strategy.ts';
import { preview as drawPreview } from '../../report/preview.ts';
import type { ChatCommand } from './command.ts';
import { readStrategy, strategyChoices } from './strategy-words.ts';

/** `/preview`: what a strategy would do. */
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
