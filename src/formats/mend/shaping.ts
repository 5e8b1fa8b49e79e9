import type { Conversation, Format } from '../../conversation/format.ts';
import { isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, MediaBlock, Message, ToolCallBlock } from '../../conversation/message.ts';
import type { ChangeLog } from '../change-log.ts';
import { toJson } from '../content.ts';

/** What a mender knows about the conversation besides its messages. */
export interface MendContext {
  readonly format: Format;
  readonly frame: Conversation['frame'];
  readonly model: string | undefined;
  /** Whether the messages stand in a request: a bare list may carry notes of its keeper, and may end with an answer. */
  readonly isRequest: boolean;
  readonly log: ChangeLog;
}

/** How a format names calls, and how a call and its result are given another id. */
export interface IdRules {
  readonly maxLength: number;
  isLegal(id: string): boolean;
  /** Whether this call has to have an id. */
  needsId(call: ToolCallBlock): boolean;
  withCallId(call: JsonObject, id: string): JsonObject;
  withAnsweredId(result: JsonObject, id: string): JsonObject;
}

/** What is particular to mending one format. A new one is one file and one line in `mend.ts`. */
export interface Mender {
  /** The message in a shape that the provider can read: the very same value, other values in its place, or none. */
  shape(raw: unknown, context: MendContext): readonly unknown[];
  /** Undefined where ids stay as they are. */
  idRules?(context: MendContext): IdRules;
  /**
   * A message of calls with other blocks at some positions, where the format writes a call down in more places than one;
   * undefined for a message of another kind.
   */
  withCalls?(message: Message, replaced: ReadonlyMap<number, readonly Block[]>): Message | undefined;
  /** Whether neighbouring answers with calls may share the message of their results. */
  readonly mayShareAnswer?: boolean;
  /** Whether pictures of a result may stand in a user message as they are. */
  readonly resultMediaFitsUser?: boolean;
  /** Gives a test that tells which open calls have to get a result. All of them where this is left out. */
  owesResult?(messages: readonly Message[]): (call: ToolCallBlock) => boolean;
  /** What has to be done before calls and results are paired. */
  prepare?(messages: readonly Message[], context: MendContext): readonly Message[];
  /** What has to be done when every call has its result. */
  arrange?(messages: readonly Message[], context: MendContext): readonly Message[];
  /** The body with these instructions in its frame; undefined where they may stay in the list. */
  withInstructions?(body: JsonObject, texts: readonly string[]): JsonObject | undefined;
  /** Whether the list is all there is, even where its frame speaks of more to come. */
  readonly holdsWholeHistory?: boolean;
  /** Whether a request may have no messages at all. */
  readonly mayBeEmpty?: boolean;
}

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
