import { type Message, textOf } from '../../conversation/message.ts';
import { printable } from '../../conversation/printable.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { countOf } from '../../report/terminal.ts';
import type { ChatCommand } from './command.ts';

/** `/pin`: messages that no compaction touches. */
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
