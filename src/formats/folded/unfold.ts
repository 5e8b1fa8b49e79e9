/** Unfolds tool calls that Open WebUI has written into the text of answers. */

import { type Conversation, withMessages } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import {
  isLegalName,
  type NativeCall,
  OPENING,
  type ScannedText,
  scanText,
  type TextFault,
} from './markup.ts';

/** A folded message and what it was unfolded into, for `foldView`. */
export interface Folding {
  readonly folded: Message;
  readonly messages: readonly Message[];
}

/**
 * - `plain`: there is nothing folded; the very same conversation
 * - `unfolded`: every call and result is a message of its own
 * - `refused`: message `index` cannot be unfolded exactly; the very same conversation. It is legal as it stands, but its
 *   coordinates are not those of the unfolded one: no progress may be counted in it.
 */
export type UnfoldedView =
  | { readonly status: 'plain'; readonly conversation: Conversation }
  | {
      readonly status: 'unfolded';
      readonly conversation: Conversation;
      readonly foldings: readonly Folding[];
    }
  | {
      readonly status: 'refused';
      readonly conversation: Conversation;
      readonly index: number;
      readonly reason: FoldedFault;
    };

/**
 * Unfolds the tool calls that Open WebUI writes into the text of an answer as `<details type="tool_calls">`, so that the
 * conversation has the same messages as the one that the model saw. Chat Completions only; others are plain.
 * Ids stay as they are, long ones too: `shortenToolIds` is for what is sent.
 */
export function unfoldView(conversation: Conversation): UnfoldedView {
  const { format } = conversation;
  const foldings: Folding[] = [];
  const messages: Message[] = [];
  for (const [index, message] of conversation.messages.entries()) {
    const unfolded = format.name === 'openai-chat' ? unfoldMessage(message.raw) : undefined;
    if (unfolded?.status === 'refused') {
      return { status: 'refused', conversation, index, reason: unfolded.reason };
    }
    if (unfolded?.status !== 'unfolded') {
      messages.push(message);
      continue;
    }
    const views = unfolded.messages.map(format.readMessage);
    foldings.push({ folded: message, messages: views });
    messages.push(...views);
  }
  if (foldings.length === 0) return { status: 'plain', conversation };
  return { status: 'unfolded', conversation: withMessages(conversation, messages), foldings };
}

/**
 * Why a message is left as it is: something about its text, or
 * - `content-parts`: the folded call stands in a list of parts
 * - `own-calls`: the message has calls of its own besides
 * - `output-differs`: text and hidden list tell different stories
 */
export type FoldedFault = TextFault | 'content-parts' | 'own-calls' | 'output-differs';

type UnfoldedMessage =
  | { readonly status: 'plain' }
  | { readonly status: 'unfolded'; readonly messages: readonly JsonObject[] }
  | { readonly status: 'refused'; readonly reason: FoldedFault };

/**
 * A chat message as the messages it stands for. The hidden `output` list counts if it has tool calls or more text than
 * the content; else the folded text, each call as a round of its own, since markup does not tell parallel calls from
 * successive ones. A plain answer stays as it is; only `output`, which no provider knows, goes.
 */
export function unfoldMessage(raw: unknown): UnfoldedMessage {
  if (!isObject(raw) || raw['role'] !== 'assistant') return PLAIN;
  const { content, output, tool_calls: ownCalls } = raw;
  if (Array.isArray(content) || ownCalls !== undefined) return unfoldOther(raw);
  const text = typeof content === 'string' ? content : '';
  const scanned = scanText(text);
  const recorded = output === undefined ? undefined : unfoldOutput(output);
  if (recorded !== undefined && recorded.callIds.length > 0) {
    if (!agrees(text, scanned, recorded)) return { status: 'refused', reason: 'output-differs' };
    return { status: 'unfolded', messages: withFields(recorded.messages, raw) };
  }
  if (typeof scanned === 'string') return { status: 'refused', reason: scanned };
  if (scanned.blocks.length > 0) {
    return { status: 'unfolded', messages: withFields(unfoldText(scanned), raw) };
  }
  if (output === undefined) return PLAIN;
  const isRicher =
    recorded !== undefined &&
    recorded.messages.length > 0 &&
    recorded.text.length > text.length &&
    isPart(text, recorded);
  const messages = isRicher ? withFields(recorded.messages, raw) : [withoutOutput(raw)];
  return { status: 'unfolded', messages };
}

const PLAIN: UnfoldedMessage = { status: 'plain' };

function unfoldOther(raw: JsonObject): UnfoldedMessage {
  const { content } = raw;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (isObject(part) ? part['text'] : part));
  if (texts.some((text) => typeof text === 'string' && text.includes(OPENING))) {
    return { status: 'refused', reason: Array.isArray(content) ? 'content-parts' : 'own-calls' };
  }
  return raw['output'] === undefined ? PLAIN : { status: 'unfolded', messages: [withoutOutput(raw)] };
}

function withoutOutput({ output: _output, ...rest }: JsonObject): JsonObject {
  return rest;
}

function unfoldText({ blocks, pieces }: ScannedText): readonly JsonObject[] {
  const messages = blocks.flatMap(({ call: { result, ...call } }, index) => [
    ...assistantMessages(pieces[index] ?? '', [call]),
    toolMessage(call.id, result),
  ]);
  return [...messages, ...assistantMessages(pieces.at(-1) ?? '', [])];
}

/** The other fields of the folded message go with the last message that the assistant wrote. */
function withFields(messages: readonly JsonObject[], raw: JsonObject): readonly JsonObject[] {
  const { content: _content, output: _output, ...fields } = raw;
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.map((message, index) => (index === last ? { ...fields, ...message } : message));
}

/** Whoever edits an answer changes its text and not the hidden list. */
function agrees(text: string, scanned: ScannedText | TextFault, recorded: UnfoldedOutput): boolean {
  if (typeof scanned === 'string' || scanned.blocks.length === 0) return isPart(text, recorded);
  const isSameCalls =
    scanned.blocks.length === recorded.callIds.length &&
    scanned.blocks.every(({ call }, index) => call.id === recorded.callIds[index]);
  return isSameCalls && holdsLines(text, recorded.text);
}

function isPart(text: string, recorded: UnfoldedOutput): boolean {
  return holdsLines(recorded.text, text) || holdsLines(text, recorded.text);
}

/**
 * Whether a text has all lines of another, in order, with more lines in between or not. Line by line, because looking for
 * a long text in another can take minutes when both are made for it.
 */
function holdsLines(text: string, wanted: string): boolean {
  const lines = linesOf(wanted);
  let next = 0;
  for (const line of linesOf(text)) if (line === lines[next]) next++;
  return next === lines.length;
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A record of what the model did, item by item, as messages. */
interface UnfoldedOutput {
  readonly messages: readonly JsonObject[];
  /** Ids of the calls, in order. */
  readonly callIds: readonly string[];
  /** All that the model said. */
  readonly text: string;
}

/**
 * The hidden `output` list of a message, items of the Responses API, as chat messages. Calls that follow each other
 * without a result in between are one response. Reasoning is shown to people and never sent, so it is left out. Undefined
 * when a call has no result, a result no call, or an item no place in the chat format.
 */
function unfoldOutput(output: unknown): UnfoldedOutput | undefined {
  const reader = new OutputReader();
  const isWhole = asList(output).every((item) => isObject(item) && reader.take(item));
  return isWhole ? reader.end() : undefined;
}

class OutputReader {
  private readonly messages: JsonObject[] = [];
  private readonly callIds: string[] = [];
  private readonly said: string[] = [];
  /** Texts and calls, by id, that no message holds yet. */
  private texts: string[] = [];
  private calls = new Map<string, NativeCall>();
  /** Calls that stand in a message and wait for their results. */
  private open = new Set<string>();

  /** Takes the next item; false when it has no place. */
  take(item: JsonObject): boolean {
    switch (item['type']) {
      case 'reasoning':
        return true;
      case 'message':
        return this.takeText(textOfParts(item['content']));
      case 'function_call':
        return this.takeCall(item);
      case 'function_call_output':
        return this.takeResult(asString(item['call_id']) ?? '', textOfParts(item['output']));
      default:
        return false;
    }
  }

  end(): UnfoldedOutput | undefined {
    if (this.open.size > 0 || this.calls.size > 0) return undefined;
    this.say();
    return { messages: this.messages, callIds: this.callIds, text: this.said.join('\n') };
  }

  private takeText(text: string | undefined): boolean {
    if (text === undefined || this.open.size > 0 || this.calls.size > 0) return false;
    if (text !== '') {
      this.texts.push(text);
      this.said.push(text);
    }
    return true;
  }

  private takeCall({ call_id: id, name, arguments: input }: JsonObject): boolean {
    if (typeof id !== 'string' || typeof name !== 'string' || typeof input !== 'string') return false;
    if (id === '' || !isLegalName(name) || this.open.size > 0 || this.calls.has(id)) return false;
    this.calls.set(id, { id, name, arguments: input });
    this.callIds.push(id);
    return true;
  }

  private takeResult(id: string, text: string | undefined): boolean {
    if (this.calls.size > 0) this.say();
    if (text === undefined || !this.open.delete(id)) return false;
    this.messages.push(toolMessage(id, text));
    return true;
  }

  private say(): void {
    this.messages.push(...assistantMessages(this.texts.join('\n'), [...this.calls.values()]));
    this.open = new Set(this.calls.keys());
    this.texts = [];
    this.calls = new Map();
  }
}

/** A text, or a list of parts that are all text. */
function textOfParts(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part: unknown) => (isObject(part) ? asString(part['text']) : undefined));
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}

/** An assistant message of the chat format: none when it would say nothing. Blank text counts as no text. */
function assistantMessages(text: string, calls: readonly NativeCall[]): readonly JsonObject[] {
  const isBlank = text.trim() === '';
  if (calls.length === 0) return isBlank ? [] : [{ role: 'assistant', content: text }];
  const toolCalls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  return [{ role: 'assistant', content: isBlank ? null : text, tool_calls: toolCalls }];
}

function toolMessage(id: string, content: string): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}
