import { asString } from '../../conversation/json.ts';
import { openMessage } from './format.ts';

/** The id that tells a LangGraph reducer to forget every message before it. */
const REMOVE_ALL = '__remove_all__';

/**
 * What to hand to a LangGraph messages reducer (`messagesStateReducer`, `MessagesAnnotation`) so that a state that held
 * `before` holds `after`: orders to remove (`{type: 'remove', id}`), then what is new or changed. Empty when nothing is.
 *
 * A reducer puts new messages at the end, and a message whose id it knows in the old one's place. Where that cannot
 * give the order of `after` (a summary in front of what is kept), or where a message has no id to name it by, the
 * list begins with the order to remove everything, and all of `after` follows.
 *
 * Orders to remove inside `before` are taken as carried out, those inside `after` are left out.
 */
export function langchainUpdate(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const old = applyRemovals(before);
  const wanted = after.filter((raw) => !isRemoval(raw));
  if (isSameList(old, wanted)) return [];
  return updateById(old, wanted) ?? [{ type: 'remove', id: REMOVE_ALL }, ...wanted];
}

/** Undefined when ids cannot do it. */
function updateById(old: readonly unknown[], wanted: readonly unknown[]): readonly unknown[] | undefined {
  const places = placesById(old);
  if (places === undefined) return undefined;
  const staying = wanted.filter((raw) => places.has(idOf(raw) ?? ''));
  // What stays must come first and in its old order: the reducer moves nothing.
  const stays = staying.map((raw) => places.get(idOf(raw) ?? '') ?? -1);
  const isInOrder = stays.every((place, index) => index === 0 || place > (stays[index - 1] ?? -1));
  if (!isInOrder || staying.some((raw, index) => raw !== wanted[index])) return undefined;
  if (!areDistinct(wanted.slice(staying.length))) return undefined;
  const kept = new Set(stays);
  const removed = old.filter((_, place) => !kept.has(place));
  const changed = staying.filter((raw, index) => raw !== old[stays[index] ?? -1]);
  return [
    ...removed.map((raw) => ({ type: 'remove', id: idOf(raw) })),
    ...changed,
    ...wanted.slice(staying.length),
  ];
}

/** Index by id; undefined when a message has none or shares it. */
function placesById(messages: readonly unknown[]): ReadonlyMap<string, number> | undefined {
  const places = new Map<string, number>();
  for (const [index, raw] of messages.entries()) {
    const id = idOf(raw);
    if (id === undefined || places.has(id)) return undefined;
    places.set(id, index);
  }
  return places;
}

/** Whether no id occurs twice. Messages without one are given one by the reducer. */
function areDistinct(messages: readonly unknown[]): boolean {
  const ids = messages.map(idOf).filter((id) => id !== undefined);
  return new Set(ids).size === ids.length;
}

function applyRemovals(messages: readonly unknown[]): readonly unknown[] {
  const start = messages.findLastIndex((raw) => isRemoval(raw) && idOf(raw) === REMOVE_ALL) + 1;
  const gone = new Set(messages.slice(start).filter(isRemoval).map(idOf));
  return messages.slice(start).filter((raw) => !isRemoval(raw) && !gone.has(idOf(raw) ?? ''));
}

function isRemoval(raw: unknown): boolean {
  return openMessage(raw)?.type === 'remove';
}

function idOf(raw: unknown): string | undefined {
  return asString(openMessage(raw)?.fields['id']);
}

function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((raw, index) => raw === right[index]);
}
