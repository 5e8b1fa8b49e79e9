/** Slash commands that keep, load or write the conversation: /pin, /save, /load, /export, /quit. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Message, textOf } from '../../conversation/message.ts';
import { printable } from '../../conversation/printable.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { countOf } from '../../report/terminal.ts';
import type { Chat } from '../chat.ts';
import { gaugeText } from '../gauge.ts';
import { loadMessages } from '../load.ts';
import { newSessionPath } from '../session-file.ts';
import type { ChatCommand } from './command.ts';

/** `/pin`: names a text; no compaction touches messages that contain it. */
export const pin: ChatCommand = {
  name: 'pin',
  usage: '[text]',
  summary: 'keep messages with this text, whatever comes',
  async run(argument, chat) {
    if (argument === '') {
      for (const text of chat.pins) chat.say(`  ${printable(text)}`);
      if (chat.pins.length === 0) chat.say('nothing is pinned');
      return 'stay';
    }
    chat.pin(argument);
    if (!chat.dialogue.isEmpty) chat.keep();
    const found = chat.dialogue.read().messages.filter((message) => isKept(message, argument));
    chat.say(`pinned; ${countOf(found.length, 'message')} so far`);
    return 'stay';
  },
};

/** What a pin keeps: what was said and what tools have answered. A summary only tells of it. */
function isKept(message: Message, text: string): boolean {
  return (
    readSummaryMessage(message) === undefined && message.blocks.some((block) => textOf(block).includes(text))
  );
}

/** `/save`: saves the chat now, or a copy of it. */
export const save: ChatCommand = {
  name: 'save',
  usage: '[file]',
  summary: 'save now, or a copy to a file',
  async run(argument, chat) {
    const path = argument === '' ? chat.sessionPath : argument;
    if (path !== chat.sessionPath && existsSync(path) && !chat.isOwnFile(path))
      chat.refuse('that file is there already and is no copy of this chat; nothing was written');
    else {
      chat.save(path);
      chat.say(`saved to ${path}`);
    }
    return 'stay';
  },
};

/** `/load`: continues the conversation of any file that roundfold can read. */
export const load: ChatCommand = {
  name: 'load',
  usage: '<file>',
  summary: 'go on with what is in a file',
  async run(argument, chat) {
    if (argument === '') chat.refuse('say which file; nothing was changed');
    else {
      const { messages, changes } = await loadMessages(argument, chat.dialogue.wire.format);
      leaveFormer(chat);
      chat.dialogue.replace(messages);
      chat.changed();
      chat.say(`${countOf(messages.length, 'message')} loaded`);
      for (const change of changes) chat.say(chat.host.style('dim', `  ${change}`));
      chat.say(gaugeText(chat));
    }
    return 'stay';
  },
};

/** What was said so far stays in its file; what comes now is another chat. */
function leaveFormer(chat: Chat): void {
  if (chat.dialogue.isEmpty) return;
  chat.say(chat.keep() ? `the chat so far stays in ${chat.sessionPath}` : 'the chat so far was not saved');
  chat.sessionPath = newSessionPath(dirname(chat.sessionPath), chat.host.now());
}

/** `/export`: writes the next request to a file. */
export const exportRequest: ChatCommand = {
  name: 'export',
  usage: '<file>',
  summary: 'write the next request to a new file',
  async run(argument, chat) {
    if (argument === '') chat.refuse('say which file');
    else if (existsSync(argument)) chat.refuse('that file is there already; nothing was written');
    else {
      const text = `${JSON.stringify(chat.dialogue.body, undefined, 2)}\n`;
      chat.host.writeConversation(argument, text, { isOwn: false, makesFolder: false });
      chat.say(`written to ${argument}`);
    }
    return 'stay';
  },
};

/** `/quit`: leaves the chat. */
export const quit: ChatCommand = {
  name: 'quit',
  usage: '',
  summary: 'leave the chat (also: Ctrl-D)',
  run: async () => 'quit',
};
