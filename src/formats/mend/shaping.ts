import type { Format, Frame } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, ToolCallBlock } from '../../conversation/message.ts';
import type { ChangeLog } from '../change-log.ts';
import { isSameList, toJson } from '../content.ts';

/** What a mender knows about the conversation besides its messages. */
export interface MendContext {
  readonly format: Format;
  readonly frame: Frame;
  readonly model: string | undefined;
  /** Whether the messages stand in a request: a bare list may carry notes of its keeper, and may end with an answer. */
  readonly isRequest: boolean;
  readonly log: ChangeLog;
}

/** How a format names calls, and how a call and its result are given another id. */
export interface IdRules {
  /** Default 64. */
  readonly maxLength?: number;
  /** Default: every id is. */
  isLegal?(id: string): boolean;
  /** Whether this call has to have an id. */
  needsId(call: ToolCallBlock): boolean;
  withCallId(call: JsonObject, id: string): JsonObject;
  withAnsweredId(result: JsonObject, id: string): JsonObject;
}

type MendStep = (messages: readonly Message[], context: MendContext) => readonly Message[];

/** What is particular to mending one format. A new one is a file beside its format and a line in `mend.ts`. */
export interface Mender {
  /** Whether this is a message, and no record around one. */
  isMessage(value: JsonObject): boolean;
  /** Whether a value that is no object may stand among the messages. Default: none may. */
  takes?(raw: unknown, context: MendContext): boolean;
  /** A user message of these words. Default `{role: 'user', content}`. */
  fromText?(text: string): unknown;
  /** The message in a shape that the provider can read: the very same value, other values in its place, or none. */
  shape(message: JsonObject, context: MendContext): readonly unknown[];
  /** Undefined where ids stay as they are. */
  ids?(context: MendContext): IdRules;
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
  readonly prepare?: MendStep;
  /** What has to be done when every call has its result. */
  readonly arrange?: MendStep;
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
export const REMOVED = 'removed';

/** Wrappers of recordings are never deeper than this. */
const MAX_WRAPPERS = 3;
const WRAPPER_KEYS = ['message', 'payload', 'data'];

/**
 * The message inside of a record that some keeper has put around it, or whose text stands where content should; the very
 * same value when there is nothing to do.
 */
export function unwrapMessage(raw: unknown, isMessage: Mender['isMessage'], log: ChangeLog): unknown {
  let inner: unknown = raw;
  for (let depth = 0; depth < MAX_WRAPPERS && isObject(inner) && !isMessage(inner); depth++) {
    const record: JsonObject = inner;
    const held = WRAPPER_KEYS.map((key) => record[key]).find(isObject);
    if (held === undefined) return withTextAsContent(raw, log);
    inner = held;
  }
  if (inner === raw || !isObject(inner) || !isMessage(inner)) return raw;
  log.add('record around a message', REMOVED);
  return inner;
}

function withTextAsContent(raw: unknown, log: ChangeLog): unknown {
  if (!isObject(raw) || typeof raw['role'] !== 'string' || !asString(raw['text'])) return raw;
  log.add('message with text and without content', 'given its text as content');
  const { text, ...rest } = raw;
  return { ...rest, content: text };
}

const ROLE_ALIASES: ReadonlyMap<string, 'user' | 'assistant' | 'system'> = new Map([
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['ai', 'assistant'],
  ['bot', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** Who speaks under a role that another format, or nobody, knows. */
export function plainRole(role: unknown): 'user' | 'assistant' | 'system' {
  return ROLE_ALIASES.get(asString(role)?.toLowerCase() ?? '') ?? 'user';
}

/** The message under a role that its format knows; the very same one when it has that role. */
export function withRole(message: JsonObject, role: unknown, log: ChangeLog): JsonObject {
  if (role === message['role']) return message;
  log.add('message of an unknown role', `taken for the ${String(role)}'s`);
  return { ...message, role };
}

/** Stands before instructions that have to speak as the user. */
export const SYSTEM_MARK = '[system message]';

/** What stands in place of media that cannot be sent. */
export function mediaNote(media: string): string {
  return `[${media} without data]`;
}

/** Counts a message that has no content, and gives none in its place. */
export function leaveOutEmpty(log: ChangeLog): readonly unknown[] {
  log.add('message without content', LEFT_OUT);
  return [];
}

/** The words of a value that is no part of content: its text, or its JSON. None when it says nothing. */
export function looseWords(part: unknown, log: ChangeLog, kind = 'content part'): readonly string[] {
  const words = wordsOf(isObject(part) && typeof part['text'] === 'string' ? part['text'] : part);
  const isBlank = words.trim() === '';
  log.add(`value that is no ${kind}`, isBlank ? LEFT_OUT : AS_TEXT);
  return isBlank ? [] : [words];
}

/** A text as it is, everything else as JSON. */
export function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : (toJson(value ?? undefined) ?? '');
}

/** Content as a list of entries that the provider can read; undefined when there is none. */
export function shapeList(
  content: unknown,
  shapeEntry: (entry: unknown) => readonly unknown[],
  log: ChangeLog,
): readonly unknown[] | undefined {
  if (content === undefined || content === null) return undefined;
  const list: readonly unknown[] = Array.isArray(content) ? content : [content];
  if (list !== content) log.add('content that is no list', 'put into one');
  return replaceEntries(list, shapeEntry);
}

/** The parts of a message, which may stand under either name, as entries that the provider can read. */
export function shapeParts(
  { parts, content }: JsonObject,
  shapeEntry: (entry: unknown) => readonly unknown[],
  log: ChangeLog,
): readonly unknown[] {
  if (Array.isArray(parts)) return replaceEntries<unknown>(parts, shapeEntry);
  const found = parts ?? content;
  if (!isGiven(found)) return [];
  log.add('content that is no list', 'put into one');
  return (Array.isArray(found) ? asList(found) : [found]).flatMap(shapeEntry);
}

/** Whether a field is there and holds something. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * The message as several ones where blocks stand in it that only another role may say. They keep their order, and those of
 * the message's own role its fields.
 * @param key where the blocks stand
 */
export function splitByRole(
  message: JsonObject,
  {
    key,
    own,
    roleOf,
    log,
  }: { key: string; own: unknown; roleOf: (block: unknown) => unknown; log: ChangeLog },
): readonly unknown[] {
  const blocks = asList(message[key]);
  const roles = blocks.map((block) => roleOf(block) ?? own);
  const strays = roles.filter((role) => role !== own).length;
  if (strays === 0) return [message];
  log.add('block in a message of the wrong role', 'moved to a message of its own', strays);
  const runs: { readonly role: unknown; readonly blocks: unknown[] }[] = [];
  for (const [index, block] of blocks.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && last.role === roles[index]) last.blocks.push(block);
    else runs.push({ role: roles[index], blocks: [block] });
  }
  return runs.map((run) => ({ ...(run.role === own ? message : { role: run.role }), [key]: run.blocks }));
}

/** The object without some of its fields; the very same one when it has none of them. */
export function withoutFields(object: JsonObject, isDropped: (name: string) => boolean): JsonObject {
  const entries = Object.entries(object);
  const kept = entries.filter(([name]) => !isDropped(name));
  return kept.length === entries.length ? object : Object.fromEntries(kept);
}

/** The list with other entries; the very same list when all entries are the same. */
export function replaceEntries<Entry>(
  list: readonly Entry[],
  replace: (entry: Entry, index: number) => readonly Entry[],
): readonly Entry[] {
  const replaced = list.flatMap(replace);
  return isSameList(replaced, list) ? list : replaced;
}
