/** Folds tool calls into the text of answers, as Open WebUI writes them. */

import { type Conversation, withMessages } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { hasToolCall, hasToolResult, type Message } from '../../conversation/message.ts';
import { isSameList } from '../content.ts';
import { type NativeCall, scanText, withResults, writeToolBlock } from './markup.ts';
import { type Folding, unfoldMessage } from './unfold.ts';

/**
 * - `folded`: the very same conversation when there was nothing to fold
 * - `refused`: what begins at message `index` has no folded form that could be unfolded again into the same messages
 */
export type FoldedView =
  | { readonly status: 'folded'; readonly conversation: Conversation }
  | { readonly status: 'refused'; readonly conversation: Conversation; readonly index: number };

/**
 * The conversation with tool calls folded into the text of answers, as Open WebUI shows them.
 * @param foldings what `unfoldView` gave: then only that is folded back, what was not changed since as the very same
 *   value. Default: every answer with calls is folded.
 */
export function foldView(conversation: Conversation, foldings?: readonly Folding[]): FoldedView {
  const { format, messages } = conversation;
  if (format.name !== 'openai-chat') return { status: 'folded', conversation };
  const stretches =
    foldings === undefined ? nativeStretches(messages) : knownStretches(conversation, foldings);
  const folded: Message[] = [];
  for (const stretch of stretches) {
    const made = foldStretch(stretch);
    if (made === undefined) return { status: 'refused', conversation, index: stretch.start };
    folded.push(...(made === 'as-it-is' ? stretch.messages : [format.readMessage(made.raw)]));
  }
  const isSame = isSameList(folded, messages);
  return { status: 'folded', conversation: isSame ? conversation : withMessages(conversation, folded) };
}

/** Messages that become one, or one that stays. */
interface Stretch {
  readonly start: number;
  readonly messages: Message[];
  /** What they came from; `new` when it is to be made, undefined when there is nothing to fold. */
  readonly folding: Folding | 'new' | undefined;
}

function foldStretch({ messages, folding }: Stretch): { readonly raw: unknown } | 'as-it-is' | undefined {
  if (folding === undefined) return 'as-it-is';
  const raws = messages.map(({ raw }) => raw);
  if (folding !== 'new') {
    const before = folding.messages.map(({ raw }) => raw);
    if (isSameList(raws, before)) return { raw: folding.folded.raw };
    const changed = foldResults(folding.folded, raws.filter(isObject));
    if (changed !== undefined) return { raw: changed };
  } else if (!messages.some(hasTools)) {
    // A plain answer that looks like a folded one would be unfolded by whoever reads it.
    return unfoldMessage(raws[0]).status === 'plain' ? 'as-it-is' : undefined;
  }
  if (!messages.some(hasTools)) return 'as-it-is';
  const raw = raws.every(isObject) ? foldMessages(raws) : undefined;
  return raw === undefined ? undefined : { raw };
}

function hasTools(message: Message | undefined): boolean {
  return message !== undefined && (hasToolCall(message) || hasToolResult(message));
}

/** Calls, results and the answer behind them; every other message by itself. */
function nativeStretches(messages: readonly Message[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let start = 0; start < messages.length; ) {
    let end = start;
    while (hasTools(messages[end])) end++;
    if (end === start || messages[end]?.role === 'assistant') end++;
    stretches.push({ start, messages: messages.slice(start, end), folding: 'new' });
    start = end;
  }
  return stretches;
}

/** Neighbours that came from the same message: the same values, or calls and results that were changed since. */
function knownStretches({ messages, frame }: Conversation, foldings: readonly Folding[]): readonly Stretch[] {
  const originals = new Set(frame.list);
  const byRaw = new Map<unknown, Folding>();
  const byId = new Map<string, Folding>();
  for (const folding of foldings) {
    for (const message of folding.messages) {
      byRaw.set(message.raw, folding);
      for (const id of toolIds(message)) byId.set(id, folding);
    }
  }
  const foldingOf = (message: Message): Folding | undefined => {
    const known = byRaw.get(message.raw);
    if (known !== undefined || originals.has(message.raw)) return known;
    const [id] = toolIds(message);
    return id === undefined ? undefined : byId.get(id);
  };
  const stretches: Stretch[] = [];
  for (const [index, message] of messages.entries()) {
    const folding = foldingOf(message);
    const before = stretches.at(-1);
    if (folding !== undefined && before?.folding === folding) before.messages.push(message);
    else stretches.push({ start: index, messages: [message], folding });
  }
  return stretches;
}

function toolIds({ blocks }: Message): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type === 'tool-call') return block.id === undefined ? [] : [block.id];
    return block.type === 'tool-result' && block.callId !== undefined ? [block.callId] : [];
  });
}

/**
 * One folded message for an answer with its calls and results; undefined when unfolding it would not give the very same
 * messages. The hidden `output` list is written only where the text alone does not say everything.
 */
function foldMessages(raws: readonly JsonObject[]): JsonObject | undefined {
  const last = raws.findLast(({ role }) => role === 'assistant');
  const { content: _content, tool_calls: _calls, ...fields } = last ?? {};
  const folded = { ...fields, role: 'assistant', content: textFor(raws) };
  return [folded, { ...folded, output: outputFor(raws) }].find((one) => unfoldsTo(one, raws));
}

/**
 * The folded message with other results in it, and no other change; undefined when more than results differs from what
 * it was unfolded into.
 */
function foldResults(folded: Message, raws: readonly JsonObject[]): JsonObject | undefined {
  if (!isObject(folded.raw)) return undefined;
  const { content, output } = folded.raw;
  const scanned = typeof content === 'string' ? scanText(content) : 'damaged';
  const inText = resultsOf(raws);
  const inOutput = resultsOf(raws);
  const changed = {
    ...folded.raw,
    ...(typeof content === 'string' && typeof scanned !== 'string'
      ? { content: withResults(content, scanned, (call) => inText(call.id) ?? call.result) }
      : {}),
    ...(Array.isArray(output) ? { output: output.map((item: unknown) => withOutput(item, inOutput)) } : {}),
  };
  return unfoldsTo(changed, raws) ? changed : undefined;
}

function withOutput(item: unknown, nextResult: (id: string) => string | undefined): unknown {
  if (!isObject(item) || item['type'] !== 'function_call_output') return item;
  const text = nextResult(asString(item['call_id']) ?? '');
  if (text === undefined) return item;
  return { ...item, output: Array.isArray(item['output']) ? [{ type: 'input_text', text }] : text };
}

/** Gives the results of each call id in their order. */
function resultsOf(raws: readonly JsonObject[]): (id: string) => string | undefined {
  const results = new Map<unknown, string[]>();
  for (const { role, tool_call_id: id, content } of raws) {
    if (role !== 'tool' || typeof content !== 'string') continue;
    const known = results.get(id);
    if (known === undefined) results.set(id, [content]);
    else known.push(content);
  }
  return (id) => results.get(id)?.shift();
}

function textFor(raws: readonly JsonObject[]): string {
  const nextResult = resultsOf(raws);
  return raws
    .map((raw) => {
      const said = asString(raw['content']) ?? '';
      if (raw['role'] !== 'assistant') return '';
      const calls = callsOf(raw);
      if (calls.length === 0) return said;
      const blocks = calls.map((call) => writeToolBlock({ ...call, result: nextResult(call.id) ?? '' }));
      return `${said === '' ? '' : `${said}\n`}${blocks.join('')}`;
    })
    .join('');
}

function outputFor(raws: readonly JsonObject[]): readonly JsonObject[] {
  return raws.flatMap((raw): readonly JsonObject[] => {
    const said = asString(raw['content']) ?? '';
    if (raw['role'] === 'tool')
      return [{ type: 'function_call_output', call_id: raw['tool_call_id'], output: said }];
    const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] };
    const calls = callsOf(raw).map(({ id, ...call }) => ({ type: 'function_call', call_id: id, ...call }));
    return said === '' ? calls : [message, ...calls];
  });
}

function callsOf(raw: JsonObject): readonly NativeCall[] {
  return asList(raw['tool_calls']).map((call) => {
    const { id, function: called }: JsonObject = isObject(call) ? call : {};
    const { name, arguments: input }: JsonObject = isObject(called) ? called : {};
    return { id: asString(id) ?? '', name: asString(name) ?? '', arguments: asString(input) ?? '' };
  });
}

function unfoldsTo(folded: JsonObject, raws: readonly JsonObject[]): boolean {
  const unfolded = unfoldMessage(folded);
  return unfolded.status === 'unfolded' && isSame(unfolded.messages.map(withContent), raws.map(withContent));
}

/** A call without text says `null`, an empty text or nothing at all: all the same. */
function withContent(raw: JsonObject): JsonObject {
  const { content } = raw;
  const isSilent = raw['tool_calls'] !== undefined && (content === undefined || content === '');
  return isSilent ? { ...raw, content: null } : raw;
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((value, index) => isSame(value, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  );
}
