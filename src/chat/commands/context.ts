import { printable } from '../../conversation/printable.ts';
import { inspectConversation, tokenParts } from '../../report/inspection.ts';
import { countOf, drawBar, drawTable, formatCount, formatShare } from '../../report/terminal.ts';
import { gaugeText } from '../gauge.ts';
import type { ChatCommand } from './command.ts';

const NAMED_TOOLS = 5;
const LEFT = { align: 'left' } as const;
const WIDEST_BAR = 40;
const NARROWEST_BAR = 4;

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
    const rows = parts
      .toSorted((left, right) => right.tokens - left.tokens)
      .map(({ name, tokens }) => ({ name: printable(name, 24), share: tokens / Math.max(1, total), tokens }));
    const width = barWidth(host.columns(), rows);
    const cells = rows.map(({ name, share, tokens }) => [
      name,
      ...(width === 0 ? [] : [drawBar(share, width, host.isPlain)]),
      formatShare(share),
      formatCount(tokens),
    ]);
    chat.say(`${countOf(messages, 'message')} in ${countOf(rounds, 'round')}`);
    const bar = width === 0 ? [] : [LEFT];
    host.out(drawTable(cells, [LEFT, ...bar, { align: 'right' }, { align: 'right' }]));
    chat.say(gaugeText(chat));
    return 'stay';
  },
};

/** What the names and numbers of the rows leave of a line for a bar. */
function barWidth(
  columns: number,
  rows: readonly { readonly name: string; readonly tokens: number }[],
): number {
  const names = Math.max(0, ...rows.map(({ name }) => name.length));
  const counts = Math.max(0, ...rows.map(({ tokens }) => formatCount(tokens).length));
  const beside = names + '100.0 %'.length + counts + 2 * rowGaps;
  const left = Math.min(WIDEST_BAR, columns - beside - 1);
  return left < NARROWEST_BAR ? 0 : left;
}

/** The indent and the spaces between four columns, by twos. */
const rowGaps = 4;
