/** The loop of a chat: reads entries, asks the provider, runs the tools that are called. */

import { changeOf } from '../compaction/plan/strategy.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import type { ToolCallBlock } from '../conversation/message.ts';
import { printableLines } from '../conversation/printable.ts';
import { parseOverflow } from '../formats/overflow/detect.ts';
import type { Chat } from './chat.ts';
import { isCommand, runCommand } from './commands/run-command.ts';
import { compactIfDue, compactNow } from './compaction.ts';
import { gaugeText } from './gauge.ts';
import type { EntrySource } from './input/entries.ts';
import { runTool, type ToolAnswer } from './tools.ts';

/** Requests for one entry at most: a model that only calls tools has to be stopped by somebody. */
const MOST_REQUESTS = 30;

/** How a turn ended. */
export type TurnEnd = 'answered' | 'cancelled' | 'failed';

/**
 * Answers one entry: asks, runs the tools that are called for, and asks again. The strategy is given the conversation at
 * the top of every iteration. Whatever ends a turn, what was said stays, and the list stays one that providers accept.
 */
export async function runTurn(chat: Chat, entry: string, signal: AbortSignal): Promise<TurnEnd> {
  const { dialogue } = chat;
  dialogue.add(dialogue.wire.userMessage(entry));
  let hasOverflowed = false;
  for (let request = 0; request < MOST_REQUESTS; request++) {
    try {
      await compactIfDue(chat, signal);
      const calls = await askOnce(chat, signal);
      if (calls.length === 0) return 'answered';
      await answerCalls(chat, calls, signal);
      if (signal.aborted) return cancelled(chat);
    } catch (error) {
      if (signal.aborted) return cancelled(chat);
      const isFirst = parseOverflow(error) !== undefined && !hasOverflowed;
      // The same request would get the same answer.
      if (!isFirst || !(await makeRoom(chat, signal))) return failed(chat, error);
      hasOverflowed = true;
    }
  }
  chat.refuse(`stopped after ${MOST_REQUESTS} requests`, 'Say how to go on.');
  return 'failed';
}

/** Shortens the conversation after the provider has refused it as too long. Says whether it is shorter now. */
async function makeRoom(chat: Chat, signal: AbortSignal): Promise<boolean> {
  chat.say(chat.host.style('yellow', 'the provider says that this is too long'));
  const outcome = await compactNow(chat, { strategy: chat.configured() }, signal);
  return changeOf(outcome) !== undefined;
}

function cancelled(chat: Chat): TurnEnd {
  chat.say(chat.host.style('yellow', 'cancelled; what was said so far is kept'));
  return 'cancelled';
}

function failed(chat: Chat, error: unknown): TurnEnd {
  if (!RoundfoldError.is(error)) throw error;
  chat.refuse(error.message, error.remedy);
  return 'failed';
}

/** Sends the conversation as it is; gives the calls that the answer makes. */
async function askOnce(chat: Chat, signal: AbortSignal): Promise<readonly ToolCallBlock[]> {
  const { dialogue, options, host } = chat;
  let said = '';
  chat.asking();
  let answer: Awaited<ReturnType<typeof options.provider.ask>>;
  try {
    answer = await options.provider.ask(dialogue.body, {
      signal,
      onText(piece) {
        said += piece;
        if (!signal.aborted) host.out(printableLines(piece));
      },
    });
  } catch (error) {
    if (said.trim() !== '') {
      dialogue.add(dialogue.wire.assistantMessage(said));
      chat.say('');
    }
    throw error;
  }
  const message = dialogue.readOne(answer.message);
  const blocks = message?.blocks ?? [];
  // A message without a word is one that providers refuse to be given back.
  const isEmpty = blocks.every((block) => block.type === 'text' && block.text.trim() === '');
  if (!isEmpty) dialogue.add(answer.message);
  chat.report(answer.usage);
  // Servers that do not stream what they were asked to stream.
  if (said === '') host.out(printableLines(blocks.map(textOfAnswer).join('')));
  chat.say(isEmpty ? host.style('dim', 'the model has said nothing') : '');
  return blocks.filter((block) => block.type === 'tool-call');
}

function textOfAnswer(block: { readonly type: string; readonly text?: unknown }): string {
  return block.type === 'text' && typeof block.text === 'string' ? block.text : '';
}

/** Runs all calls of an answer. One that was cancelled is answered too, since a call without an answer is refused. */
async function answerCalls(chat: Chat, calls: readonly ToolCallBlock[], signal: AbortSignal): Promise<void> {
  const { dialogue, options, host } = chat;
  const answers: [ToolCallBlock, ToolAnswer][] = [];
  for (const call of calls) {
    const isCancelled = signal.aborted;
    if (!isCancelled)
      chat.say(host.style('cyan', `[${printableLines(call.name)}] ${printableLines(inputText(call))}`));
    const answer = isCancelled
      ? { text: 'cancelled by the user', isError: true }
      : await runTool(call, options.workspace);
    if (answer.isError && !isCancelled) chat.say(host.style('red', `  ${printableLines(answer.text)}`));
    answers.push([call, answer]);
  }
  dialogue.add(...dialogue.wire.results(answers));
}

function inputText({ input }: ToolCallBlock): string {
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
  return text.slice(0, 200);
}

/** How a chat went. */
export interface ChatEnd {
  /** Turns that the provider failed to answer. */
  readonly failures: number;
}

/** Talks until there are no more entries, or somebody quits. Saves after every turn. */
export async function runChat(chat: Chat, entries: EntrySource): Promise<ChatEnd> {
  let failures = 0;
  for (;;) {
    const entry = await entries.next();
    if (entry === undefined) return { failures };
    if (entry.trim() === '') continue;
    const stop = new AbortController();
    const unlisten = entries.onCancel(() => stop.abort());
    try {
      if (isCommand(entry)) {
        if ((await runCommand(entry, chat, stop.signal)) === 'quit') return { failures };
        continue;
      }
      if ((await runTurn(chat, entry, stop.signal)) === 'failed') failures++;
      saveOrSay(chat);
      chat.say(gaugeText(chat));
    } finally {
      unlisten();
    }
  }
}

/** Saves, and goes on chatting when that fails, as on a full disk. */
function saveOrSay(chat: Chat): void {
  try {
    chat.keep();
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    chat.refuse(`not saved: ${error.message}`, error.remedy);
  }
}
