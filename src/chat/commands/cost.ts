import type { Usage } from '../../conversation/message.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { ChatCommand } from './command.ts';

/** `/cost`: what the chat has taken. */
export const cost: ChatCommand = {
  name: 'cost',
  usage: '',
  summary: 'show what the chat has taken so far',
  async run(_argument, chat) {
    const { requests, summaries, ...tokens } = chat.spent;
    chat.say(`${countOf(requests, 'request')}: ${inAndOut(tokens)}`);
    if (summaries.promptTokens > 0) chat.say(`summaries by a model: ${inAndOut(summaries)}`);
    const { money } = chat.compactor;
    if (money === undefined) chat.say('no prices are known for this model');
    else {
      const words = money.saved < 0 ? 'cost' : 'saved';
      const paid = `prompts and summaries about $${money.paid.toFixed(4)}`;
      chat.say(`${paid}; compactions have ${words} $${Math.abs(money.saved).toFixed(4)}`);
    }
    return 'stay';
  },
};

function inAndOut({ promptTokens, outputTokens }: Usage): string {
  return `${formatCount(promptTokens)} tokens in, ${formatCount(outputTokens)} out`;
}
