import { savedSoFar } from '../../economics/ledger.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { ChatCommand } from './command.ts';

/** `/cost`: what the chat has taken. */
export const cost: ChatCommand = {
  name: 'cost',
  usage: '',
  summary: 'show what the chat has taken so far',
  async run(_argument, chat) {
    const { requests, promptTokens, outputTokens } = chat.spent;
    const { ledger } = chat.compactor;
    chat.say(
      `${countOf(requests, 'request')}: ${formatCount(promptTokens)} tokens in, ${formatCount(outputTokens)} out`,
    );
    if (ledger.actualCost === 0) chat.say('no prices are known for this model');
    else {
      const saved = savedSoFar(ledger);
      const words = saved < 0 ? 'cost' : 'saved';
      chat.say(
        `prompts about $${ledger.actualCost.toFixed(4)}; compactions have ${words} $${Math.abs(saved).toFixed(4)}`,
      );
    }
    return 'stay';
  },
};
