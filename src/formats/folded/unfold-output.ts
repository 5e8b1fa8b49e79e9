import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { assistantMessages, isLegalName, type NativeCall, toolMessage } from './native-messages.ts';

/** A record of what the model did, item by item, as messages; undefined when it cannot be told exactly. */
export interface UnfoldedOutput {
  readonly messages: readonly JsonObject[];
  /** Ids of the calls, in order. */
  readonly callIds: readonly string[];
  /** The texts of the model, in order. */
  readonly said: readonly string[];
}

/**
 * The hidden `output` list of a message, items of the Responses API, as chat messages. Calls that follow each other
 * without a result in between are one response. Reasoning is shown to people and never sent, so it is left out. Undefined
 * when a call has no result, a result no call, or an item no place in the chat format.
 */
export function unfoldOutput(output: unknown): UnfoldedOutput | undefined {
  const reading: Reading = {
    messages: [],
    callIds: [],
    texts: [],
    calls: new Map(),
    open: new Set(),
    said: [],
  };
  for (const item of asList(output)) {
    if (!isObject(item) || !take(reading, item)) return undefined;
  }
  if (reading.open.size > 0 || reading.calls.size > 0) return undefined;
  say(reading);
  return reading;
}

interface Reading extends UnfoldedOutput {
  readonly messages: JsonObject[];
  readonly callIds: string[];
  readonly said: string[];
  texts: string[];
  /** Calls that are not said yet, by id. */
  calls: Map<string, NativeCall>;
  /** Calls that were said and wait for their results. */
  open: Set<string>;
}

function take(reading: Reading, item: JsonObject): boolean {
  switch (item['type']) {
    case 'reasoning':
      return true;
    case 'message':
      return takeText(reading, item);
    case 'function_call':
      return takeCall(reading, item);
    case 'function_call_output':
      return takeResult(reading, item);
    default:
      return false;
  }
}

function takeText(reading: Reading, item: JsonObject): boolean {
  const text = textOf(item['content']);
  if (text === undefined || reading.open.size > 0 || reading.calls.size > 0) return false;
  if (text === '') return true;
  reading.texts.push(text);
  reading.said.push(text);
  return true;
}

function takeCall(reading: Reading, item: JsonObject): boolean {
  const { call_id: id, name, arguments: input } = item;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof input !== 'string') return false;
  if (id === '' || !isLegalName(name) || reading.open.size > 0 || reading.calls.has(id)) return false;
  reading.calls.set(id, { id, name, arguments: input });
  reading.callIds.push(id);
  return true;
}

function takeResult(reading: Reading, item: JsonObject): boolean {
  const id = asString(item['call_id']) ?? '';
  const text = textOf(item['output']);
  if (reading.calls.size > 0) say(reading);
  if (text === undefined || !reading.open.delete(id)) return false;
  reading.messages.push(toolMessage(id, text));
  return true;
}

function say(reading: Reading): void {
  reading.messages.push(...assistantMessages(reading.texts.join('\n'), [...reading.calls.values()]));
  reading.open = new Set(reading.calls.keys());
  reading.texts = [];
  reading.calls = new Map();
}

/** A text, or a list of parts that are all text. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part: unknown) => (isObject(part) ? asString(part['text']) : undefined));
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}
