/** Repairs a recorded conversation, so that its provider would accept it. */

import { type Conversation, withMessages } from '../../conversation/format.ts';
import { asString, isObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import { aiSdkModelMender } from '../ai-sdk/mend-model.ts';
import { aiSdkUiMender } from '../ai-sdk/mend-ui.ts';
import { anthropicMender } from '../anthropic-messages/mend.ts';
import { ChangeLog, type ConversionChange } from '../change-log.ts';
import { isSameList, joinTexts } from '../content.ts';
import { geminiMender } from '../gemini/mend.ts';
import { langchainMender } from '../langchain/mend.ts';
import { openaiChatMender } from '../openai-chat/mend.ts';
import { openaiResponsesMender } from '../openai-responses/mend.ts';
import { pairTools } from './pair-tools.ts';
import { LEFT_OUT, type MendContext, type Mender, plainRole, unwrapMessage, wordsOf } from './shaping.ts';

/** By name of the format. They are no part of the formats, so that reading a conversation does not load them. */
const menders: ReadonlyMap<string, Mender> = new Map<string, Mender>([
  ['anthropic-messages', anthropicMender],
  ['openai-chat', openaiChatMender],
  ['openai-responses', openaiResponsesMender],
  ['gemini', geminiMender],
  ['ai-sdk-model', aiSdkModelMender],
  ['ai-sdk-ui', aiSdkUiMender],
  ['langchain', langchainMender],
]);

/** A kind of fault that was mended, what became of it, and how often: `2 × tool call without a result: given one …`. */
export type Repair = ConversionChange;

export interface MendOptions {
  /** Where the request goes, if its body does not name the model: some models refuse what others take. */
  readonly model?: string | undefined;
}

export interface Mended {
  readonly conversation: Conversation;
  /** Empty when there was nothing to mend. */
  readonly repairs: readonly Repair[];
}

/**
 * Makes a conversation that its provider accepts of whatever a file or a recording holds: open calls, lost and misplaced
 * results, ids used twice, records around messages, empty content, roles in the wrong order. What can be moved or turned
 * into text is not removed, and everything that was changed is counted in the repairs. A conversation that is legal comes
 * back as the very same value, and so does every message that needs no mending.
 *
 * Only the messages are mended, and instructions that stood among them where they may not. Faults of the frame around them
 * stay: missing settings, tool definitions, limits of size and number, signatures that do not fit. Where the server holds
 * part of the history, calls and results are not paired either, since the other half may be there.
 */
export function mendConversation(conversation: Conversation, options: MendOptions = {}): Mended {
  const { format, frame } = conversation;
  const mender = menders.get(format.name);
  if (mender === undefined) return { conversation, repairs: [] };
  const log = new ChangeLog();
  const isRequest = isObject(frame.body);
  const context: MendContext = { format, frame, model: options.model ?? frame.model, isRequest, log };
  const opened = takeInstructions(conversation, mender, log);
  const mended = mendMessages(opened.messages, mender, context);
  const isSame = isSameList(mended, opened.messages);
  return { conversation: isSame ? opened : withMessages(opened, mended), repairs: log.list() };
}

function mendMessages(
  messages: readonly Message[],
  mender: Mender,
  context: MendContext,
): readonly Message[] {
  const { format, frame, log } = context;
  const shaped = messages.flatMap((message) => shapeMessage(message, mender, context));
  const prepared = mender.prepare?.(shaped, context) ?? shaped;
  const isWhole = frame.continues === undefined || mender.holdsWholeHistory === true;
  const paired = isWhole ? pairTools(prepared, mender, context) : prepared;
  const arranged = mender.arrange?.(paired, context) ?? paired;
  const isMissing = arranged.length === 0 && isWhole;
  if (!isMissing || (mender.mayBeEmpty === true && messages.length === 0)) return arranged;
  log.add('conversation without a message', 'given a placeholder');
  return format.userMessages([format.textBlock(PLACEHOLDER_TEXT)]);
}

function shapeMessage(message: Message, mender: Mender, context: MendContext): readonly Message[] {
  const { raw: before, responseId, usage } = message;
  const raws = shapeRaw(before, mender, context);
  if (raws.length === 1 && raws[0] === before) return [message];
  return raws.map((raw) => {
    const view = context.format.readMessage(raw);
    return view.role === 'assistant' ? { ...view, responseId, usage } : view;
  });
}

function shapeRaw(raw: unknown, mender: Mender, context: MendContext): readonly unknown[] {
  if (mender.takes?.(raw, context) === true) return [raw];
  const message = unwrapMessage(raw, mender.isMessage, context.log);
  const isOne = isObject(message) && (mender.isMessage(message) || typeof message['role'] === 'string');
  if (isOne) return mender.shape(message, context);
  const text = wordsOf(raw);
  const isBlank = text.trim() === '' || text === '{}' || text === '[]';
  context.log.add('value that is no message', isBlank ? LEFT_OUT : 'turned into a user message');
  return isBlank ? [] : [mender.fromText?.(text) ?? { role: 'user', content: text }];
}

/** Instructions at the head of the list go to the place that the request has for them. */
function takeInstructions(conversation: Conversation, mender: Mender, log: ChangeLog): Conversation {
  const { format, frame, messages } = conversation;
  const { body } = frame;
  if (!isObject(body) || mender.withInstructions === undefined) return conversation;
  const texts: string[] = [];
  for (const message of messages) {
    const text = isSystem(message) ? instructionOf(message) : '';
    if (text.trim() === '') break;
    texts.push(text);
  }
  const changed = texts.length === 0 ? undefined : mender.withInstructions(body, texts);
  if (changed === undefined) return conversation;
  log.add('system message at the head of the list', 'moved to the instructions of the request', texts.length);
  return { format, frame: format.read(changed).frame, messages: messages.slice(texts.length) };
}

function instructionOf({ blocks, raw }: Message): string {
  if (blocks.some(({ type }) => type !== 'text')) return '';
  const text = joinTexts(blocks);
  return text === '' && isObject(raw) ? (asString(raw['content']) ?? '') : text;
}

function isSystem({ role, raw }: Message): boolean {
  return role === 'system' || (isObject(raw) && plainRole(raw['role']) === 'system');
}
