import { isObject, type JsonObject } from '../../conversation/json.ts';
import type { MediaBlock } from '../../conversation/message.ts';
import type { ChangeLog } from '../convert/changes.ts';
import { toJson } from '../result-content.ts';

/** Words for what became of something, the same in every format. */
export const LEFT_OUT = 'left out';
export const AS_TEXT = 'turned into text';
export const NOTED = 'replaced by a note';
export const REMOVED_FIELD = 'removed';

/** Wrappers of recordings are never deeper than this. */
const MAX_WRAPPERS = 3;
const WRAPPER_KEYS = ['message', 'payload', 'data'];

/**
 * The message inside of a record that some keeper has put around it, or whose text stands where content should; the very
 * same value when there is nothing to do.
 */
export function unwrapMessage(
  raw: unknown,
  isMessage: (value: JsonObject) => boolean,
  log: ChangeLog,
): unknown {
  let inner: unknown = raw;
  for (let depth = 0; depth < MAX_WRAPPERS && isObject(inner) && !isMessage(inner); depth++) {
    const record: JsonObject = inner;
    const held = WRAPPER_KEYS.map((key) => record[key]).find(isObject);
    if (held === undefined) return withTextAsContent(raw, log);
    inner = held;
  }
  if (inner === raw || !isObject(inner) || !isMessage(inner)) return raw;
  log.add('record around a message', REMOVED_FIELD);
  return inner;
}

function withTextAsContent(raw: unknown, log: ChangeLog): unknown {
  const hasText = isObject(raw) && typeof raw['role'] === 'string' && typeof raw['text'] === 'string';
  if (!hasText || raw['text'] === '') return raw;
  log.add('message with text and without content', 'given its text as content');
  return { ...withoutFields(raw, (name) => name === 'text'), content: raw['text'] };
}

const ROLE_ALIASES: ReadonlyMap<string, 'user' | 'assistant' | 'system'> = new Map([
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['ai', 'assistant'],
  ['bot', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** Who speaks under a role that another format, or nobody, knows. */
export function plainRole(role: unknown): 'user' | 'assistant' | 'system' {
  return ROLE_ALIASES.get(typeof role === 'string' ? role.toLowerCase() : '') ?? 'user';
}

/** A value that is no message as words for a user message; undefined when it says nothing. Counted either way. */
export function looseText(raw: unknown, log: ChangeLog): string | undefined {
  const text = typeof raw === 'string' ? raw : (toJson(raw ?? undefined) ?? '');
  const isBlank = text.trim() === '' || text === '{}' || text === '[]';
  log.add('value that is no message', isBlank ? LEFT_OUT : 'turned into a user message');
  return isBlank ? undefined : text;
}

/** Stands before instructions that have to speak as the user. */
export const SYSTEM_MARK = '[system message]';

/** What stands in place of media that cannot be sent. */
export function mediaNote(media: MediaBlock['media']): string {
  return `[${media} without data]`;
}

/** The object without some of its fields; the very same one when it has none of them. */
export function withoutFields(object: JsonObject, isDropped: (name: string) => boolean): JsonObject {
  const names = Object.keys(object);
  if (!names.some(isDropped)) return object;
  return Object.fromEntries(names.filter((name) => !isDropped(name)).map((name) => [name, object[name]]));
}

/** The list with other entries; the very same list when all entries are the same. */
export function replaceEntries<Entry>(
  list: readonly Entry[],
  replace: (entry: Entry, index: number) => readonly Entry[],
): readonly Entry[] {
  let isChanged = false;
  const replaced = list.flatMap((entry, index) => {
    const entries = replace(entry, index);
    if (entries.length !== 1 || entries[0] !== entry) isChanged = true;
    return entries;
  });
  return isChanged ? replaced : list;
}
