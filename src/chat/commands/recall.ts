import { printable, printableLines } from '../../conversation/printable.ts';
import { pagesOf } from '../../memory/pages/pages.ts';
import { formatPages, noSuchPage } from '../../report/page-words.ts';
import { messagesOfSpan } from '../../stores/spans.ts';
import type { ChatArchive } from '../archive.ts';
import type { Chat } from '../chat.ts';
import type { ChatCommand } from './command.ts';

/** `/recall`: what has left the conversation. */
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
