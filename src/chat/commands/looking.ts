/** Slash commands that show something: /context, /cost, /model, /recall. */

import type { Usage } from '../../conversation/message.ts';
import { printable, printableLines } from '../../conversation/printable.ts';
import { pagesOf } from '../../memory/pages.ts';
import { inspectConversation, tokenParts } from '../../report/inspection.ts';
import {
  countOf,
  drawBar,
  drawTable,
  formatCount,
  formatPages,
  formatShare,
  noSuchPage,
} from '../../report/terminal.ts';
import { messagesOfSpan } from '../../stores/spans.ts';
import { findModel } from '../../tokens/catalog.ts';
import type { ChatArchive } from '../archive.ts';
import type { Chat } from '../chat.ts';
import { gaugeText } from '../gauge.ts';
import type { ChatCommand } from './command.ts';

const NAMED_TOOLS = 5;
const LEFT = { align: 'left' } as const;
const WIDEST_BAR = 40;
const NARROWEST_BAR = 4;

/** `/context`: draws where the tokens go. */
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

/** Columns that are left for the bar beside the names and numbers; 0 when there are too few. */
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

/** The indent and the gaps between four columns, two spaces each. */
const rowGaps = 4;

/** `/cost`: shows tokens and money that the chat has taken. */
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

/** The model and its provider, for people. */
export function whoAnswers({ dialogue: { model: name }, options: { provider } }: Chat): string {
  return name === provider.name
    ? 'no model (offline answers are made up, compactions are real)'
    : `${printable(name)} from ${provider.name}`;
}

/** `/model`: shows or changes the model. */
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

/** `/recall`: shows messages that have left the conversation. */
export const recall: ChatCommand = {
  name: 'recall',
  usage: '<handle [page]|words>',
  summary: 'read what has left (needs --store)',
  async run(argument, chat) {
    const { archive } = chat.options;
    if (archive === undefined)
      chat.refuse('nothing is kept without a store', 'Start the chat with --store FILE.');
    else if (argument === '') chat.refuse('say what to look for: a handle, or words');
    else if (argument.startsWith('rf:')) await showPage(chat, archive, argument);
    else await showMatches(chat, archive, argument);
    return 'stay';
  },
};

async function showPage(chat: Chat, archive: ChatArchive, argument: string): Promise<void> {
  const [handle = '', number = '1'] = argument.split(/\s+/);
  const span = await archive.recall(handle);
  if (span === undefined) {
    chat.refuse('nothing is kept under that handle');
    return;
  }
  const pages = pagesOf(messagesOfSpan(span));
  const page = /^\d{1,9}$/.test(number) ? Number(number) : 0;
  const text = pages[page - 1];
  if (text === undefined) {
    chat.refuse(noSuchPage(printable(number, 20), pages.length));
    return;
  }
  chat.say(printableLines(text).trimEnd());
  const next = page < pages.length ? `; /recall ${handle} ${page + 1} goes on` : '';
  chat.say(chat.host.style('dim', `${formatPages({ first: page, last: page }, pages.length)}${next}`));
}

async function showMatches(chat: Chat, archive: ChatArchive, words: string): Promise<void> {
  const found = await archive.search(words);
  for (const { handle, page, message, excerpt } of found)
    chat.say(`${handle} ${page}  message ${message}: ${printable(excerpt, 100)}`);
  if (found.length === 0) chat.say('nothing that has left contains all of these words');
  else chat.say(chat.host.style('dim', '/recall HANDLE PAGE reads one'));
}
