import { isObject } from '../conversation/json.ts';
import type { Message } from '../conversation/message.ts';

/** A view and everything its message held then: messages should be replaced, not changed, but loops do change them. */
interface Known {
  readonly view: Message;
  /**
   * Keys, lengths and values, in order. Comparing a text with itself costs nothing, however long it is. Undefined where
   * nobody can change the message.
   */
  readonly parts: readonly unknown[] | undefined;
}

const fixedMessages = new WeakSet<object>();

/** Says of a message that it will never be changed, so that it is not compared with what it was each time it is read. */
export function neverChanges(raw: object): void {
  fixedMessages.add(raw);
}

/**
 * Remembers the view of each raw message, so that the next turn reads only what is new and sizes that are remembered per
 * view stay valid. The same unchanged object always gives the same view; one that was edited in place gives a new one.
 */
export function rememberViews(read: (raw: unknown) => Message): (raw: unknown) => Message {
  const known = new WeakMap<object, Known>();
  return (raw) => {
    if (typeof raw !== 'object' || raw === null) return read(raw);
    const before = known.get(raw);
    if (before !== undefined && isUnchanged(raw, before)) return before.view;
    const view = read(raw);
    known.set(raw, { view, parts: fixedMessages.has(raw) ? undefined : partsOf(raw) });
    return view;
  };
}

function partsOf(raw: object): readonly unknown[] {
  const parts: unknown[] = [];
  walk(raw, 0, (part) => parts.push(part) < MOST_PARTS);
  return parts;
}

function isUnchanged(raw: unknown, { parts }: Known): boolean {
  if (parts === undefined) return true;
  let next = 0;
  const isSame = walk(raw, 0, (part) => Object.is(part, parts[next++]));
  return isSame && next === parts.length;
}

/** No message has more; what has, a value that holds itself for instance, counts as changed whenever it is read. */
const MOST_PARTS = 100_000;

/** No message is nested deeper; what is, counts as changed whenever its outer part is another value. */
const DEEPEST = 64;

/** Shows every key, length and value of a message, until `show` has seen enough. */
function walk(value: unknown, depth: number, show: (part: unknown) => boolean): boolean {
  if (depth > DEEPEST) return show(value);
  if (Array.isArray(value)) {
    return show(value.length) && value.every((item) => walk(item, depth + 1, show));
  }
  if (!isObject(value)) return show(value);
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (!show(key) || !walk(value[key], depth + 1, show)) return false;
  }
  return show(END);
}

const END = Symbol('end of an object');
