import { printable } from '../../core/printable.ts';
import { inspectConversation } from '../../report/inspection.ts';
import { countOf, drawBar, drawTable, formatCount, formatShare } from '../../report/terminal.ts';
import { tokenParts } from '../../report/token-parts.ts';
import { gaugeText } from '../gauge.ts';
import type { ChatCommand } from './command.ts';

const NAMED_TOOLS = 5;

/** `/context`: where the tokens go, as a picture. */
export const context: ChatCommand = {
  name: 'context',
  usage: '',
  summary: 'show where the tokens go',
  async run(_argument, chat) {
    const { host, estimator, dialogue } = chat;
    const { byClass, byTool, messages, rounds } = inspectConversation(dialogue.read(), { estimator, top: 0 });
    const parts = tokenParts(byClass, byTool, NAMED_TOOLS);
    const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
    const width = Math.max(10, Math.min(40, host.columns() - 48));
    const rows = parts
      .toSorted((left, right) => right.tokens - left.tokens)
      .map(({ name, tokens }) => [
        printable(name, 24),
        drawBar(tokens / Math.max(1, total), width, host.isPlain),
        formatShare(tokens / Math.max(1, total)),
        formatCount(tokens),
      ]);
    chat.say(`${countOf(messages, 'message')} in ${countOf(rounds, 'round')}`);
    host.out(drawTable(rows, [{ align: 'left' }, { align: 'left' }, { align: 'right' }, { align: 'right' }]));
    chat.say(gaugeText(chat));
    return 'stay';
  },
};
