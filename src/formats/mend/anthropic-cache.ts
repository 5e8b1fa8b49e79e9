import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import type { MendContext } from './mender.ts';
import { withoutFields } from './raw-message.ts';

const MAX_BREAKPOINTS = 4;

/**
 * At most four cache breakpoints, and none of an hour behind one of five minutes. The breakpoints of the frame stay; of those
 * in the messages the last ones do, which cover the others.
 */
export function markAtMostFour(messages: readonly Message[], context: MendContext): readonly Message[] {
  const { frame, isRequest, log } = context;
  const body: JsonObject = isRequest && isObject(frame.body) ? frame.body : {};
  const marks = messages.flatMap(({ raw }) => (isObject(raw) ? asList(raw['content']).flatMap(marksOf) : []));
  if (marks.length === 0) return messages;
  const outer = [...asList(body['tools']), ...asList(body['system'])].flatMap(markOf);
  const slots = MAX_BREAKPOINTS - outer.length - ((body['cache_control'] ?? null) === null ? 0 : 1);
  const excess = Math.max(marks.length - Math.max(slots, 0), 0);
  const changes = new Map<unknown, 'drop' | 'shorten'>();
  let isShort = outer.some((mark) => !isLong(mark));
  for (const [index, mark] of marks.entries()) {
    if (index < excess) changes.set(mark.block, 'drop');
    else if (isLong(mark.control) && isShort) changes.set(mark.block, 'shorten');
    else isShort ||= !isLong(mark.control);
  }
  if (changes.size === 0) return messages;
  log.add('cache breakpoint that is not allowed', 'removed or shortened', changes.size);
  return messages.map((message) => withMarks(message, changes, context));
}

interface Mark {
  readonly block: JsonObject;
  readonly control: unknown;
}

function markOf(block: unknown): readonly unknown[] {
  const control = isObject(block) ? (block['cache_control'] ?? null) : null;
  return control === null ? [] : [control];
}

function marksOf(block: unknown): readonly Mark[] {
  if (!isObject(block)) return [];
  const inner = block['type'] === 'tool_result' ? asList(block['content']).flatMap(marksOf) : [];
  return [...inner, ...markOf(block).map((control) => ({ block, control }))];
}

function isLong(control: unknown): boolean {
  return isObject(control) && control['ttl'] === '1h';
}

type Changes = ReadonlyMap<unknown, 'drop' | 'shorten'>;

function withMarks(message: Message, changes: Changes, { format }: MendContext): Message {
  const { raw } = message;
  if (!isObject(raw) || !Array.isArray(raw['content'])) return message;
  const content = withMarksInside(raw['content'], changes);
  const { responseId, usage } = message;
  return content === raw['content']
    ? message
    : { ...format.readMessage({ ...raw, content }), responseId, usage };
}

function withMarksInside(content: readonly unknown[], changes: Changes): readonly unknown[] {
  const blocks = content.map((block) => (isObject(block) ? withMark(block, changes) : block));
  return blocks.every((block, index) => block === content[index]) ? content : blocks;
}

function withMark(block: JsonObject, changes: Changes): JsonObject {
  const isOfResult = block['type'] === 'tool_result' && Array.isArray(block['content']);
  const content = isOfResult ? withMarksInside(asList(block['content']), changes) : block['content'];
  const inner = content === block['content'] ? block : { ...block, content };
  const change = changes.get(block);
  if (change === undefined) return inner;
  if (change === 'drop') return withoutFields(inner, (name) => name === 'cache_control');
  return { ...inner, cache_control: { type: 'ephemeral' } };
}
