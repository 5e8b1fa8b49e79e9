import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { scanText } from './scan-text.ts';
import { withResults, writeToolBlock } from './tool-block.ts';
import { unfoldMessage } from './unfold-message.ts';

/**
 * One folded message for an answer with its calls and results; undefined when unfolding it would not give the very same
 * messages. The hidden `output` list is written only where the text alone does not say everything.
 */
export function foldMessages(messages: readonly Message[]): JsonObject | undefined {
  const raws = messages.map(({ raw }) => raw).filter(isObject);
  if (raws.length !== messages.length) return undefined;
  const last = raws.findLast(({ role }) => role === 'assistant');
  const { content: _content, tool_calls: _calls, ...fields } = last ?? {};
  const folded = { ...fields, role: 'assistant', content: textFor(raws) };
  return [folded, { ...folded, output: outputFor(raws) }].find((one) => unfoldsTo(one, raws));
}

/**
 * The folded message with other results in it, and no other change; undefined when more than results differs from what
 * it was unfolded into.
 */
export function foldResults(folded: Message, messages: readonly Message[]): JsonObject | undefined {
  const raws = messages.map(({ raw }) => raw).filter(isObject);
  if (!isObject(folded.raw)) return undefined;
  const { content, output } = folded.raw;
  const scanned = typeof content === 'string' ? scanText(content) : 'damaged';
  const inText = resultsOf(raws);
  const inOutput = resultsOf(raws);
  const changed = {
    ...folded.raw,
    ...(typeof content === 'string' && typeof scanned !== 'string'
      ? { content: withResults(content, scanned.blocks, ({ call }) => inText(call.id) ?? call.result) }
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
  const results = new Map<string, string[]>();
  for (const { role, tool_call_id: id, content } of raws) {
    if (role !== 'tool' || typeof id !== 'string' || typeof content !== 'string') continue;
    const known = results.get(id);
    if (known === undefined) results.set(id, [content]);
    else known.push(content);
  }
  const given = new Map<string, number>();
  return (id) => {
    const index = given.get(id) ?? 0;
    given.set(id, index + 1);
    return results.get(id)?.[index];
  };
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
    const calls = callsOf(raw).map(({ id, ...called }) => ({
      type: 'function_call',
      call_id: id,
      ...called,
    }));
    return said === '' ? calls : [message, ...calls];
  });
}

function callsOf(raw: JsonObject): readonly { id: string; name: string; arguments: string }[] {
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
