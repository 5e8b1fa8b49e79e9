import { isObject } from '../core/json.ts';
import type { Message } from '../core/message.ts';

/** Reads raw messages into views and remembers them, so that the next turn reads only what is new. */
export interface ViewMemory {
  /** The view of one message. The same unchanged object always gives the same view. */
  readMessage(raw: unknown): Message;
  /** The views of a list, those of its known beginning without looking each of them up. */
  readList(list: readonly unknown[]): readonly Message[];
}

/** A view and what its message's content was then: messages should be replaced, not changed, but loops do push blocks. */
interface Known {
  readonly view: Message;
  readonly content: unknown;
  readonly size: number;
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
  const content = contentOf(raw);
  return { view, content, size: sizeOf(content) };
}

function isUnchanged(raw: unknown, known: Known): boolean {
  const content = contentOf(raw);
  return content === known.content && sizeOf(content) === known.size;
}

function contentOf(raw: unknown): unknown {
  return isObject(raw) ? (raw['content'] ?? raw['parts']) : undefined;
}

function sizeOf(content: unknown): number {
  return Array.isArray(content) ? content.length : 0;
}
