import { setTimeout as pause } from 'node:timers/promises';
import { isUserText, type Message, textOf } from '../../conversation/message.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { answerTo, answerToResults, wantedCall } from './offline-words.ts';
import type { ChatProvider } from './provider.ts';
import { anthropicWire } from './wire.ts';

/** Milliseconds between two pieces of an answer on a screen. */
const PACE = 6;

/**
 * Answers without any model: the same request, the same answer. Calls a tool when a message begins with list, read or
 * search. `isPaced`: writes as slowly as somebody can watch.
 */
export function offlineProvider({ isPaced }: { readonly isPaced: boolean }): ChatProvider {
  return {
    name: 'offline',
    wire: anthropicWire,
    async ask(body, { onText, signal }) {
      const { messages } = anthropicMessages.read(body);
      const { text, call } = answerOf(messages);
      for (const piece of piecesOf(text)) {
        if (isPaced) await pause(PACE, undefined, { signal });
        signal.throwIfAborted();
        onText(piece);
      }
      const said = text === '' ? [] : [{ type: 'text', text }];
      const called = call === undefined ? [] : [{ type: 'tool_use', ...call }];
      return { message: { role: 'assistant', content: [...said, ...called] }, usage: undefined };
    },
  };
}

function answerOf(messages: readonly Message[]): {
  readonly text: string;
  readonly call?: object;
} {
  const last = messages.at(-1);
  if (last === undefined) return { text: 'There is nothing to answer yet.' };
  const texts = last.blocks.map(textOf);
  if (!isUserText(last)) return { text: answerToResults(texts) };
  if (readSummaryMessage(last) !== undefined) return { text: 'I have read the summary.' };
  const asked = texts.join('\n');
  const call = wantedCall(asked);
  if (call === undefined) return { text: answerTo(asked, messages.slice(0, -1)) };
  const calls = messages.reduce((sum, { blocks }) => sum + blocks.length, 0);
  return { text: `I look with ${call.name}.`, call: { id: `toolu_offline_${calls}`, ...call } };
}

/** Some words at a time. */
function piecesOf(text: string): readonly string[] {
  return text.match(/.{1,24}(?:\s|$)|.{1,24}/gsu) ?? [];
}
