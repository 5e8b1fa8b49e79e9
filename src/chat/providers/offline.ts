/** A provider without a model: answers from the conversation itself, the same for the same request. */

import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../conversation/json.ts';
import { isUserText, type Message, textOf } from '../../conversation/message.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { anthropicWire, type ChatProvider } from './provider.ts';

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

/** A call that a message asks for. */
export interface WantedCall {
  readonly name: string;
  readonly input: JsonObject;
}

const PATH = /(?:^|\s)["'`]?([\w./~-]*[./][\w./~-]*|[\w-]+)["'`]?/;
const QUOTED = /["'`“]([^"'`”]{1,200})["'`”]/;

/** What a message asks the tools for, by its first words; undefined when it wants to talk. */
function wantedCall(text: string): WantedCall | undefined {
  const [verb = '', rest = ''] = splitVerb(text.slice(0, 500));
  const path = PATH.exec(rest.replace(/^(?:\s*(?:the|file|folder|files|in|of|for|me)\b)+/i, ''))?.[1];
  switch (verb.toLowerCase()) {
    case 'list':
    case 'ls':
      return { name: 'list_files', input: path === undefined ? {} : { path } };
    case 'read':
    case 'open':
    case 'cat':
      return path === undefined ? undefined : { name: 'read_file', input: { path } };
    case 'search':
    case 'find':
    case 'grep': {
      const wanted = QUOTED.exec(rest)?.[1] ?? rest.replace(/^\s*(?:the|files?|for)\b/i, '').trim();
      return wanted === '' ? undefined : { name: 'search_files', input: { text: wanted.slice(0, 200) } };
    }
    default:
      return undefined;
  }
}

function splitVerb(text: string): readonly string[] {
  const words = text.trimStart().replace(/^(?:please|now|then|can you|could you)\s+/i, '');
  const end = words.search(/\s|$/);
  return [words.slice(0, end), words.slice(end)];
}

const LONG = /\bat length\b/i;
const SHORT_SENTENCES = 6;
const LONG_SENTENCES = 120;

/** What there is to say without a model: what was asked, what is known of it, and how to look further. */
function answerTo(question: string, earlier: readonly Message[]): string {
  const asked = question.replaceAll(/\s+/g, ' ').trim();
  const quoted = asked.length > 160 ? `${asked.slice(0, 159)}…` : asked;
  const known = /\?\s*$/.test(asked) ? mentionOf(asked, earlier) : undefined;
  const opening =
    known === undefined ? `I have noted: ${quoted}` : `You asked: ${quoted}\nEarlier it was said: ${known}`;
  const count = LONG.test(asked) ? LONG_SENTENCES : SHORT_SENTENCES;
  const topic = wordsOf(asked).slice(0, 5);
  const sentences = Array.from({ length: count }, (_, index) => sentenceAbout(topic, index));
  return `${opening}\n${sentences.join(' ')}`;
}

const SENTENCES: readonly ((word: string, number: number) => string)[] = [
  (word, number) => `Point ${number}: ${word} has a place of its own in what we do.`,
  (word, number) => `Step ${number} would be to look at ${word} before anything is changed.`,
  (word, number) => `Under ${number} I keep that ${word} was mentioned here.`,
  (word, number) => `Whoever reads this later finds ${word} under number ${number}.`,
];

function sentenceAbout(topic: readonly string[], index: number): string {
  const word = topic[index % Math.max(1, topic.length)] ?? 'this';
  return SENTENCES[index % SENTENCES.length]?.(word, index + 1) ?? '';
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.-]{3,40}/gu) ?? [];
}

/** The line of the conversation that has most words of the question in it: what was summarised away is not found. */
function mentionOf(question: string, earlier: readonly Message[]): string | undefined {
  const wanted = new Set(wordsOf(question));
  let best: { readonly line: string; readonly score: number } | undefined;
  for (const message of earlier) {
    if (!isUserText(message)) continue;
    for (const line of message.blocks.flatMap((block) => textOf(block).split('\n'))) {
      const score = new Set(wordsOf(line.slice(0, 2000)).filter((word) => wanted.has(word))).size;
      if (score > (best?.score ?? 0)) best = { line, score };
    }
  }
  return best?.line.trim().slice(0, 300);
}

/** What a tool found, in a few lines. */
function answerToResults(texts: readonly string[]): string {
  const lines = texts.flatMap((text) => text.split('\n'));
  const shown = lines.slice(0, 5).map((line) => `  ${line.slice(0, 120)}`);
  const rest = lines.length - shown.length;
  return `This is what I found:\n${shown.join('\n')}${rest > 0 ? `\n  … and ${rest} more lines` : ''}`;
}
