import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { createTally, type Tally } from '../records.ts';

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
  // Both are tried with a tally of their own: what the one that is not chosen leaves out does not count.
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

/** A `<details>` element in the text of a message: how Open WebUI folds tool calls, reasoning and code runs. */
interface DetailsBlock {
  /** Where the element begins and ends in the text. */
  readonly start: number;
  readonly end: number;
  /** Its `type` attribute: `tool_calls`, `reasoning`, `code_interpreter`; undefined for one that somebody wrote. */
  readonly type: string | undefined;
  /** Attributes with their character references resolved. An attribute without a value is an empty string. */
  readonly attributes: ReadonlyMap<string, string>;
  /** What stands between the tags, as it is. */
  readonly body: string;
}

interface OpenElement {
  readonly start: number;
  readonly bodyStart: number;
  readonly attributes: ReadonlyMap<string, string>;
  /** Elements inside. They count only if this one is never closed. */
  readonly inner: DetailsBlock[];
}

const OPENING = '<details';
const CLOSING = '</details>';

/**
 * The `<details>` elements of a text, outermost ones only, in order. One pass, whatever the text. Tags that are
 * malformed or never closed are text; behind a tag that never ends nothing more is found.
 */
export function parseDetailsBlocks(text: string): readonly DetailsBlock[] {
  const found: DetailsBlock[] = [];
  const open: OpenElement[] = [];
  let opening = text.indexOf(OPENING);
  let closing = text.indexOf(CLOSING);
  while (opening !== -1 || (closing !== -1 && open.length > 0)) {
    if (closing !== -1 && (opening === -1 || closing < opening)) {
      const end = closing + CLOSING.length;
      const element = open.pop();
      if (element !== undefined) (open.at(-1)?.inner ?? found).push(close(element, text, closing, end));
      closing = text.indexOf(CLOSING, end);
      continue;
    }
    const tag = scanTag(text, opening + OPENING.length);
    if (tag.attributes !== undefined) {
      open.push({ start: opening, bodyStart: tag.end, attributes: tag.attributes, inner: [] });
    }
    opening = text.indexOf(OPENING, tag.end);
    if (closing !== -1 && closing < tag.end) closing = text.indexOf(CLOSING, tag.end);
  }
  return [...found, ...open.flatMap(({ inner }) => inner)];
}

function close(element: OpenElement, text: string, bodyEnd: number, end: number): DetailsBlock {
  const { start, bodyStart, attributes } = element;
  return { start, end, type: attributes.get('type'), attributes, body: text.slice(bodyStart, bodyEnd) };
}

interface Tag {
  /** Undefined when this is no tag. */
  readonly attributes: ReadonlyMap<string, string> | undefined;
  /** Where the tag ends, or where it turned out to be none. */
  readonly end: number;
}

function scanTag(text: string, from: number): Tag {
  const attributes = new Map<string, string>();
  let index = from;
  while (index < text.length) {
    const start = skipSpace(text, index);
    if (text[start] === '>') return { attributes, end: start + 1 };
    // Without a space in front, this is another name: `<detailsman>`, `a="1"b`.
    if (start === index) return { attributes: undefined, end: start };
    const attribute = scanAttribute(text, start);
    if (attribute === undefined) return { attributes: undefined, end: start };
    if (!attributes.has(attribute.name)) attributes.set(attribute.name, unescapeHtml(attribute.value));
    index = attribute.end;
  }
  return { attributes: undefined, end: text.length };
}

interface Attribute {
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

function scanAttribute(text: string, from: number): Attribute | undefined {
  const nameEnd = skipName(text, from);
  const name = text.slice(from, nameEnd);
  if (name === '') return undefined;
  if (text[nameEnd] !== '=') return { name, value: '', end: nameEnd };
  const quote = text[nameEnd + 1];
  if (quote === '"' || quote === "'") {
    const valueStart = nameEnd + 2;
    const valueEnd = text.indexOf(quote, valueStart);
    if (valueEnd === -1) return { name, value: '', end: text.length };
    return { name, value: text.slice(valueStart, valueEnd), end: valueEnd + 1 };
  }
  const valueEnd = skipName(text, nameEnd + 1);
  return { name, value: text.slice(nameEnd + 1, valueEnd), end: valueEnd };
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (index < text.length && SPACES.has(text[index] ?? '')) index++;
  return index;
}

function skipName(text: string, from: number): number {
  let index = from;
  while (index < text.length && !NAME_ENDS.has(text[index] ?? '')) index++;
  return index;
}

const SPACES = new Set([' ', '\t', '\n', '\r', '\f']);
const NAME_ENDS = new Set([...SPACES, '=', '>', '<', '"', "'", '/']);

/** Named references that appear in escaped attributes. Others stay as they are. */
const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
]);

const LAST_CODE_POINT = 0x10ffff;

/** Text with its character references resolved: `&quot;`, `&#39;`, `&#x27;`. Unknown references stay as they are. */
export function unescapeHtml(text: string): string {
  return text.replaceAll(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi,
    (reference, hex, decimal, name) => {
      if (typeof name === 'string') return named.get(name) ?? reference;
      const codePoint = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal);
      return codePoint <= LAST_CODE_POINT ? String.fromCodePoint(codePoint) : reference;
    },
  );
}
