import { isObject } from '../conversation/json.ts';
import type { Message } from '../conversation/message.ts';

/** Reads raw messages into views and remembers them, so that the next turn reads only what is new. */
export interface ViewMemory {
  /** The view of one message. The same unchanged object always gives the same view. */
  readMessage(raw: unknown): Message;
  /** The views of a list, those of its known beginning without looking each of them up. */
  readList(list: readonly unknown[]): readonly Message[];
}

/** A view and everything its message held then: messages should be replaced, not changed, but loops do change them. */
interface Known {
  readonly view: Message;
  /** Keys, lengths and values, in order. Comparing a text with itself costs nothing, however long it is. */
  readonly parts: readonly unknown[];
}

interface KnownList {
  readonly raws: readonly unknown[];
  readonly known: readonly Known[];
  readonly views: readonly Message[];
}

/**
 * Remembers the view of each raw message, so that sizes remembered per view stay valid too. Everything remembered
 * vanishes with the raw values: a message's view with it, a list with its first message.
 */
export function rememberViews(read: (raw: unknown) => Message): ViewMemory {
  const views = new WeakMap<object, Known>();
  const lists = new WeakMap<object, KnownList>();

  const look = (raw: unknown): Known => {
    if (typeof raw !== 'object' || raw === null) return toKnown(raw, read(raw));
    const before = views.get(raw);
    if (before !== undefined && isUnchanged(raw, before)) return before;
    const known = toKnown(raw, read(raw));
    views.set(raw, known);
    return known;
  };

  return {
    readMessage: (raw) => look(raw).view,
    readList(list) {
      const first = list[0];
      if (!isObject(first)) return list.map((raw) => look(raw).view);
      const before = lists.get(first);
      const shared = before === undefined ? 0 : sharedLength(list, before);
      const known = before === undefined ? [] : before.known.slice(0, shared);
      const read = before === undefined ? [] : before.views.slice(0, shared);
      for (let index = shared; index < list.length; index++) {
        const entry = look(list[index]);
        known.push(entry);
        read.push(entry.view);
      }
      // The list itself may be pushed to later; what was read of it may not change with it.
      lists.set(first, { raws: list.slice(), known, views: read });
      return read;
    },
  };
}

function sharedLength(list: readonly unknown[], { raws, known }: KnownList): number {
  const limit = Math.min(list.length, raws.length);
  for (let index = 0; index < limit; index++) {
    const entry = known[index];
    if (list[index] !== raws[index] || entry === undefined || !isUnchanged(list[index], entry)) return index;
  }
  return limit;
}

function toKnown(raw: unknown, view: Message): Known {
  const parts: unknown[] = [];
  walk(raw, 0, (part) => parts.push(part) < MOST_PARTS);
  return { view, parts };
}

function isUnchanged(raw: unknown, { parts }: Known): boolean {
  let next = 0;
  const isSame = walk(raw, 0, (part) => Object.is(part, parts[next++]));
  return isSame && next === parts.length;
}

/** No message has more; what has, a value that holds itself for instance, counts as changed whenever it is read. */
const MOST_PARTS = 100_000;

/** No message is nested deeper; what is, counts as changed whenever its outer part is another value. */
const DEEPEST = 64;

/** Shows every key, length and value of a message, until somebody has seen enough. */
function walk(value: unknown, depth: number, show: (part: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return show(value);
  if (Array.isArray(value)) {
    if (!show(value.length)) return false;
    for (const item of value) if (!walk(item, depth + 1, show)) return false;
    return true;
  }
  // Classes with getters, as frameworks have them, are told apart by themselves.
  if (!isObject(value)) return show(value);
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (!show(key) || !walk(value[key], depth + 1, show)) return false;
  }
  return show(END);
}

const END = Symbol('end of an object');
