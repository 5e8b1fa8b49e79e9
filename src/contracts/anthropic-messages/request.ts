import type { CheckContext, Violation } from '../contract.ts';
import { asList, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { type ModelFacts, modelFacts, unknownModel } from './models.ts';
import { checkKind } from './values.ts';

/** A content block with a type. String content reads as one text block. */
export interface Block {
  readonly type: string;
  readonly path: string;
  readonly value: JsonObject;
}

/** A message of the request's own list, before the API combines turns. */
export interface Message {
  /** Index in the request's `messages`. */
  readonly index: number;
  readonly path: string;
  /** Whatever text stands there; undefined when none does. */
  readonly role: string | undefined;
  readonly value: JsonObject;
  readonly blocks: readonly Block[];
}

/** A request body as the rules read it: what has no readable shape is left out here and reported by the shape rules. */
export interface Request {
  readonly body: JsonObject;
  readonly messages: readonly Message[];
  readonly context: CheckContext;
  /** False when only the message list is known. */
  readonly isWhole: boolean;
  readonly model: string | undefined;
  readonly facts: ModelFacts;
}

/** Reads a body, or a bare list of messages when only these are known. */
export function readAnthropicRequest(body: unknown, context: CheckContext): Request | readonly Violation[] {
  const isWhole = context.scope !== 'messages';
  const frame = !isWhole && Array.isArray(body) ? { messages: body } : body;
  if (!isObject(frame)) return checkKind(frame, 'object', 'body');
  const model = context.model ?? readText(frame, 'model');
  return {
    body: frame,
    messages: readList(frame, 'messages').flatMap(readMessage),
    context,
    isWhole,
    model,
    facts: isWhole ? modelFacts(model) : unknownModel,
  };
}

function readMessage(value: unknown, index: number): Message[] {
  if (!isObject(value)) return [];
  const path = `messages.${index}`;
  return [{ index, path, role: readText(value, 'role'), value, blocks: readBlocks(value, path) }];
}

function readBlocks(message: JsonObject, path: string): Block[] {
  const content = read(message, 'content');
  if (typeof content === 'string') {
    return content === ''
      ? []
      : [{ type: 'text', path: `${path}.content`, value: { type: 'text', text: content } }];
  }
  return readTypedList(content, `${path}.content`);
}

/** The blocks of a content list that are objects with a type. */
export function readTypedList(content: unknown, path: string): Block[] {
  const blocks: Block[] = [];
  for (const [index, value] of asList(content).entries()) {
    const type = readText(value, 'type');
    if (type !== undefined && isObject(value)) blocks.push({ type, path: `${path}.${index}`, value });
  }
  return blocks;
}

/** Whether a user message answers tool calls, and so continues a turn instead of starting one. */
export function hasToolResult(message: Message): boolean {
  return message.blocks.some((block) => block.type === 'tool_result');
}
