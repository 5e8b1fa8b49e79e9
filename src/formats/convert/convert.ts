/** Converts a conversation from one wire format to another and says what could not be carried over. */

import { RoundfoldError } from '../../conversation/errors.ts';
import type { Conversation, ToolDefinition } from '../../conversation/format.ts';
import { asCount, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { textOf } from '../../conversation/message.ts';
import { toAnthropicMessages } from '../anthropic-messages/convert.ts';
import { ChangeLog, type ConversionChange } from '../change-log.ts';
import { toGemini } from '../gemini/convert.ts';
import { LegalNames } from '../legal-names.ts';
import { toOpenaiChat } from '../openai-chat/convert.ts';
import { toOpenaiResponses } from '../openai-responses/convert.ts';
import type { Target, Turn, TurnFrame, TurnTool } from './target.ts';
import { type TurnOptions, toTurns } from './turns.ts';

const targets: readonly Target[] = [toAnthropicMessages, toOpenaiChat, toOpenaiResponses, toGemini];

/** Names of the formats that a conversation can be converted to. */
export const conversionTargets: readonly string[] = targets.map(({ format }) => format.name);

/** Longest name of a tool that every target takes. */
const MAX_NAME_LENGTH = 64;

export interface Conversion {
  readonly conversation: Conversation;
  /** What the target could not take as it was; empty when everything was carried over. */
  readonly changes: readonly ConversionChange[];
}

/**
 * The conversation in another wire format. Roles, texts, tool calls and results are kept, and media where the target has
 * a place for it; reasoning, which only its own provider takes back, is left out. A request body gives a request body, a
 * list of messages a list, unless there are instructions that the target has no place for in a list. The very same
 * conversation when it is in that format already.
 * @throws RoundfoldError `usage` when there is no such target
 */
export function convertConversation(conversation: Conversation, formatName: string): Conversion {
  if (conversation.format.name === formatName) return { conversation, changes: [] };
  const target = targets.find(({ format }) => format.name === formatName);
  if (target === undefined) {
    throw new RoundfoldError('usage', `nothing can be converted to ${JSON.stringify(formatName)}`, {
      remedy: `Known: ${conversionTargets.join(', ')}.`,
    });
  }
  const changes = new ChangeLog();
  const names = new LegalNames(MAX_NAME_LENGTH, 'unnamed');
  const { turns, instructions } = toTurns(conversation.messages, { target, names, changes });
  const frame = toTurnFrame(conversation, instructions, { names, changes });
  const opening: readonly Turn[] = target.listTakesInstructions
    ? frame.instructions.map((text) => ({ role: 'system', parts: [{ type: 'text', text }] }))
    : [];
  const list = [...opening, ...turns].flatMap((turn) => target.writeTurn(turn));
  const isRequest = isObject(conversation.frame.body);
  const needsRequest = frame.instructions.length > 0 && !target.listTakesInstructions;
  if (!isRequest && needsRequest)
    changes.add('list of messages', 'wrapped in a body that holds the instructions');
  const body = isRequest || needsRequest ? target.writeBody(list, frame) : list;
  return { conversation: target.format.read(body), changes: changes.list() };
}

type Naming = Pick<TurnOptions, 'names' | 'changes'>;

/** What the target gets to know besides the turns. What it cannot be told is named in the changes. */
function toTurnFrame(
  { format, frame }: Conversation,
  instructions: readonly string[],
  { names, changes }: Naming,
): TurnFrame {
  const body = isObject(frame.body) ? frame.body : {};
  if (frame.continues !== undefined)
    changes.add(`history that the server keeps (${frame.continues})`, 'left out');
  for (const key of Object.keys(body)) {
    if (key !== format.listKey && !CARRIED_KEYS.has(key)) changes.add(`setting ${key}`, 'left out');
  }
  const system = frame.system.map(textOf).filter((text) => text.trim() !== '');
  return {
    model: frame.model,
    instructions: [...system, ...instructions],
    tools: frame.tools.flatMap((tool) => toTool(tool, format.name, { names, changes })),
    maxOutputTokens: readLimit(body),
  };
}

const LIMIT_KEYS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'];

/** Keys beside the list of messages whose content is carried over, or spoken of elsewhere. */
const CARRIED_KEYS: ReadonlySet<string> = new Set([
  ...LIMIT_KEYS,
  ...['model', 'tools', 'functions'],
  ...['system', 'instructions', 'systemInstruction', 'system_instruction', 'previous_response_id'],
]);

function readLimit(body: JsonObject): number | undefined {
  const config = isObject(body['generationConfig']) ? body['generationConfig'] : {};
  const limits = [...LIMIT_KEYS.map((key) => body[key]), config['maxOutputTokens']].map(asCount);
  return limits.find((limit) => limit > 0);
}

const SCHEMA_KEYS = ['input_schema', 'parameters', 'parametersJsonSchema', 'inputSchema'];

/** What free-text calls are wrapped in. */
const FREE_TEXT_SCHEMA = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

function toTool(
  { name, raw }: ToolDefinition,
  format: string,
  { names, changes }: Naming,
): readonly TurnTool[] {
  const outer = isObject(raw) ? raw : {};
  const inner = [outer['function'], outer['custom']].find(isObject) ?? outer;
  const stated = SCHEMA_KEYS.map((key) => inner[key]).find(isObject);
  const isFreeText = outer['type'] === 'custom';
  // A type of its own names a tool that only its provider has.
  const isOwn = outer['type'] !== undefined && outer['type'] !== 'function' && !isFreeText;
  if (isOwn && stated === undefined) {
    changes.add("provider's own tool", 'left out');
    return [];
  }
  const schema = stated ?? (isFreeText ? FREE_TEXT_SCHEMA : { type: 'object', properties: {} });
  const description = asString(inner['description']);
  return [{ name: names.get(name), description, schema: format === 'gemini' ? lowerTypes(schema) : schema }];
}

/** Deeper schemas than this stay as they are from there on. */
const SCHEMA_DEPTH = 40;

/** Gemini's schemas write the types of JSON Schema in capitals; nobody else takes these. */
function lowerTypes(schema: JsonObject, depth = SCHEMA_DEPTH): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'type' && typeof value === 'string') return [key, value.toLowerCase()];
      return [key, depth > 0 ? lowerInside(value, depth - 1) : value];
    }),
  );
}

function lowerInside(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((entry) => (isObject(entry) ? lowerTypes(entry, depth) : entry));
  return isObject(value) ? lowerTypes(value, depth) : value;
}
