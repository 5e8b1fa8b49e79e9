import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { createTally, type Tally } from '../tally.ts';
import { type DetailsBlock, parseDetailsBlocks } from './details.ts';

/** A call, as either serialisation holds it. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * An assistant message of Open WebUI as the chat messages it stands for: the expanded `output` list if that has tool
 * calls or more text, else the folded `content`. Empty when nothing is left of it.
 */
export function unfoldAssistant(message: JsonObject, tally: Tally): readonly JsonObject[] {
  const { content } = message;
  if (Array.isArray(content) && content.length > 0) return [{ role: 'assistant', content }];
  const folded = asString(content) ?? '';
  const output = asList(message['output']);
  // Both are tried out on a tally of their own: what the loser leaves out is none of ours.
  const expanded = unfoldOutput(output, createTally());
  const isRicher =
    expanded.some((part) => part['role'] === 'tool' || part['tool_calls'] !== undefined) ||
    lengthOf(expanded) > lengthOf(unfoldDetails(folded, createTally()));
  return isRicher ? unfoldOutput(output, tally) : unfoldDetails(folded, tally);
}

function lengthOf(messages: readonly JsonObject[]): number {
  return messages.reduce((sum, { content }) => sum + (asString(content)?.length ?? 0), 0);
}

/** Items of the Responses API as chat messages. Results follow their calls at once, wherever they were recorded. */
function unfoldOutput(output: readonly unknown[], tally: Tally): readonly JsonObject[] {
  const items = output.filter((item) => isObject(item));
  const { awaited, strays } = pairResults(items, tally);
  const messages: JsonObject[] = [];
  let texts: string[] = [];
  let calls: Call[] = [];
  const flush = (): void => {
    messages.push(...turn(texts.join('\n'), calls));
    for (const { id } of calls) messages.push(...(awaited.get(id)?.splice(0, 1) ?? []));
    texts = [];
    calls = [];
  };
  for (const item of items) {
    const call = callOf(item);
    if (call !== undefined) calls.push(call);
    else if (item['type'] === 'message') {
      if (calls.length > 0) flush();
      texts.push(textOf(item['content']));
    } else if (item['type'] === 'function_call_output') {
      flush();
      messages.push(...(strays.get(item) ?? []));
    } else if (item['type'] === 'reasoning') tally.add(REASONING_NOTE);
    else tally.add('{n} output item{s} that the chat format has no place for left out');
  }
  flush();
  return messages;
}

const REASONING_NOTE = '{n} reasoning block{s} left out: shown, never sent';

function callOf(item: JsonObject): Call | undefined {
  const { type, call_id: id, name, arguments: input } = item;
  if (type !== 'function_call' || typeof id !== 'string' || typeof name !== 'string') return undefined;
  return { id, name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) };
}

interface PairedResults {
  /** The results of the calls of the list, by call id, in order. */
  readonly awaited: ReadonlyMap<string, JsonObject[]>;
  /** Results that no call of the list waits for, by item. They keep their place. */
  readonly strays: ReadonlyMap<JsonObject, readonly JsonObject[]>;
}

function pairResults(items: readonly JsonObject[], tally: Tally): PairedResults {
  const awaited = new Map<string, JsonObject[]>();
  const strays = new Map<JsonObject, readonly JsonObject[]>();
  const open = new Map<string, number>();
  for (const item of items) {
    const id = callOf(item)?.id;
    if (id !== undefined) open.set(id, (open.get(id) ?? 0) + 1);
  }
  for (const item of items) {
    if (item['type'] !== 'function_call_output') continue;
    const id = asString(item['call_id']) ?? '';
    const result = resultOf(item, tally);
    const left = open.get(id) ?? 0;
    if (left === 0) {
      strays.set(item, [result]);
      continue;
    }
    const results = awaited.get(id);
    if (results === undefined) awaited.set(id, [result]);
    else results.push(result);
    open.set(id, left - 1);
  }
  return { awaited, strays };
}

/** A chat result is text: images beside it have no place. */
function resultOf(item: JsonObject, tally: Tally): JsonObject {
  const { output } = item;
  for (const part of asList(output)) {
    const isText = isObject(part) && typeof part['text'] === 'string';
    if (!isText) tally.add('{n} part{s} of tool results that the chat format has no place for left out');
  }
  return toolMessage(asString(item['call_id']) ?? '', textOf(output));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => (isObject(part) ? (asString(part['text']) ?? '') : ''))
    .join('');
}

/**
 * Text with folded blocks as chat messages. Tool calls are unfolded only if every one of them is complete, each as a
 * round of its own: the folded text does not tell parallel calls from successive ones.
 */
function unfoldDetails(content: string, tally: Tally): readonly JsonObject[] {
  const blocks = parseDetailsBlocks(content);
  const calls = blocks.filter(({ type }) => type === 'tool_calls');
  const isExact = calls.every(isComplete);
  if (!isExact) tally.add('{n} message{s} with incomplete folded tool calls left folded');
  const messages: JsonObject[] = [];
  let text = '';
  let from = 0;
  for (const block of blocks) {
    const isCall = block.type === 'tool_calls' && isExact;
    if (!isCall && block.type !== 'reasoning') continue;
    text += content.slice(from, block.start);
    from = block.end;
    if (!isCall) {
      tally.add(REASONING_NOTE);
      continue;
    }
    const call = foldedCall(block);
    messages.push(...turn(text, [call]), toolMessage(call.id, decoded(block.attributes.get('result') ?? '')));
    text = '';
  }
  if (from === 0) return content.trim() === '' ? [] : [{ role: 'assistant', content }];
  return [...messages, ...turn(text + content.slice(from), [])];
}

const REQUIRED = ['id', 'name', 'arguments', 'result'];

function isComplete({ attributes }: DetailsBlock): boolean {
  const isNamed = attributes.get('id') !== '' && attributes.get('name') !== '';
  return isNamed && attributes.get('done') !== 'false' && REQUIRED.every((name) => attributes.has(name));
}

function foldedCall({ attributes }: DetailsBlock): Call {
  return {
    id: attributes.get('id') ?? '',
    name: attributes.get('name') ?? '',
    arguments: decoded(attributes.get('arguments') ?? ''),
  };
}

/** Attributes hold JSON: a string stands for its text, everything else for itself. */
function decoded(attribute: string): string {
  if (!attribute.startsWith('"')) return attribute;
  try {
    return asString(JSON.parse(attribute)) ?? attribute;
  } catch {
    return attribute;
  }
}

function turn(text: string, calls: readonly Call[]): readonly JsonObject[] {
  const isBlank = text.trim() === '';
  if (calls.length === 0) return isBlank ? [] : [{ role: 'assistant', content: text.trim() }];
  const toolCalls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  return [{ role: 'assistant', content: isBlank ? null : text.trim(), tool_calls: toolCalls }];
}

function toolMessage(id: string, content: string): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}
