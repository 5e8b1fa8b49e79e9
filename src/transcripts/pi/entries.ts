import type { Place } from '../../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { placeInside, type Tally, timestampOf, usageOf } from '../records.ts';
import type { Origin, Reject } from '../transcript.ts';

/** What a record says, in pi's own blocks: the wire format is known only when the newest turn has been read. */
export type Entry = UserEntry | AssistantEntry | ResultEntry | SystemEntry;

export interface UserEntry {
  readonly role: 'user';
  readonly content: string | readonly JsonObject[];
  readonly origin: Origin;
}

export interface AssistantEntry {
  readonly role: 'assistant';
  readonly content: readonly JsonObject[];
  readonly author: Author;
  /** Whether the turn was aborted or ended in an error. */
  readonly isCutShort: boolean;
  readonly origin: Origin;
}

export interface ResultEntry {
  readonly role: 'result';
  readonly callId: string;
  readonly content: string | readonly JsonObject[];
  readonly isError: boolean;
  readonly origin: Origin;
}

/** A change of what stands around the messages. */
export interface SystemEntry {
  readonly role: 'system';
  readonly text: string;
  /** Parts of the instructions by name; `null` takes one back. */
  readonly sections: readonly (readonly [name: string, text: string | null])[];
  readonly toolsAdded: readonly JsonObject[];
  readonly toolsRemoved: readonly string[];
}

/** Who wrote a turn. What is signed or encrypted in it means nothing to another one. */
export interface Author {
  readonly api: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** What reading a record's message needs besides the record. */
export interface EntryContext {
  readonly place: Place;
  readonly tally: Tally;
  readonly reject: Reject;
}

/** The entry in a `message` record; undefined when it has none that is sent. */
export function readEntry(record: JsonObject, context: EntryContext): Entry | undefined {
  const message = record['message'];
  const read = isObject(message) ? roles.get(asString(message['role']) ?? '') : undefined;
  if (!isObject(message) || read === undefined) {
    context.reject(placeInside(context.place, 'message'), 'expected a message with a role that pi writes');
    return undefined;
  }
  return read(message, originOf(record, message, context.place), context);
}

/** A user message with this text, or these pi blocks; undefined when there is nothing in it. */
export function userEntry(content: unknown, origin: Origin, tally: Tally): UserEntry | undefined {
  const cleaned = typeof content === 'string' ? content : cleanBlocks(content, tally);
  const isEmpty = typeof cleaned === 'string' ? cleaned.trim() === '' : cleaned.length === 0;
  return isEmpty ? undefined : { role: 'user', content: cleaned, origin };
}

/** Where a record and what it holds come from. */
export function originOf(record: JsonObject, message: JsonObject, place: Place): Origin {
  return {
    place,
    timestamp: timestampOf(record['timestamp']) ?? timestampOf(message['timestamp']),
    responseId: asString(message['responseId']),
    usage: usageOf(message['usage'], ['input', 'cacheRead', 'cacheWrite'], ['output']),
  };
}

type MessageReader = (message: JsonObject, origin: Origin, context: EntryContext) => Entry | undefined;

const roles = new Map<string, MessageReader>([
  ['system', readSystem],
  ['user', readUser],
  ['custom', readUser],
  ['hookMessage', readUser],
  ['assistant', readAssistant],
  ['toolResult', readResult],
  ['bashExecution', readShell],
]);

function readSystem(message: JsonObject, _origin: Origin, { tally }: EntryContext): Entry {
  const { content, sections, toolsAdded, toolsRemoved } = message;
  const blocks = typeof content === 'string' ? [] : cleanBlocks(content, tally);
  const named = Object.entries(isObject(sections) ? sections : {});
  return {
    role: 'system',
    text: asString(content) ?? blocks.map((block) => asString(block['text']) ?? '').join('\n'),
    sections: named.map(([name, text]) => [name, asString(text) ?? null]),
    toolsAdded: asList(toolsAdded).filter(isObject),
    toolsRemoved: asList(toolsRemoved).flatMap((tool) =>
      isObject(tool) ? (asString(tool['name']) ?? []) : [],
    ),
  };
}

function readUser(message: JsonObject, origin: Origin, { tally }: EntryContext): Entry | undefined {
  const entry = userEntry(message['content'], origin, tally);
  if (entry === undefined) tally.add('{n} user message{s} without content left out');
  return entry;
}

function readAssistant(message: JsonObject, origin: Origin, context: EntryContext): Entry {
  const { stopReason, content } = message;
  const isSound = (block: unknown, index: number): boolean => {
    if (!isObject(block) || block['type'] !== 'toolCall') return true;
    if (typeof block['id'] === 'string' && typeof block['name'] === 'string') return true;
    const place = placeInside(context.place, `message.content.${index}`);
    context.reject(place, 'expected a tool call with an id and a name');
    return false;
  };
  return {
    role: 'assistant',
    content: cleanBlocks(asList(content).filter(isSound), context.tally),
    author: {
      api: asString(message['api']) ?? 'anthropic-messages',
      provider: asString(message['provider']),
      model: asString(message['model']),
    },
    isCutShort: stopReason === 'aborted' || stopReason === 'error',
    origin,
  };
}

function readResult(message: JsonObject, origin: Origin, context: EntryContext): Entry | undefined {
  const { toolCallId: callId, content } = message;
  if (typeof callId !== 'string') {
    const place = placeInside(context.place, 'message.toolCallId');
    context.reject(place, 'expected the id of the call that this result answers');
    return undefined;
  }
  return {
    role: 'result',
    callId,
    content: typeof content === 'string' ? content : cleanBlocks(content, context.tally),
    isError: message['isError'] === true,
    origin,
  };
}

/** A command the user ran by hand. pi sends it as user text; the wording here is ours. */
function readShell(message: JsonObject, origin: Origin, { tally }: EntryContext): Entry | undefined {
  if (message['excludeFromContext'] === true) {
    tally.add('{n} shell command{s} kept from the model left out');
    return undefined;
  }
  tally.add('{n} shell command{s} of the user put into words');
  const exitCode = message['exitCode'];
  const lines = [
    `$ ${asString(message['command']) ?? ''}`,
    asString(message['output']) ?? '',
    message['cancelled'] === true ? '(cancelled)' : '',
    typeof exitCode === 'number' && exitCode !== 0 ? `(exit code ${exitCode})` : '',
  ];
  return { role: 'user', content: lines.filter((line) => line !== '').join('\n'), origin };
}

/** The blocks that say something, as the very values of the record. */
function cleanBlocks(content: unknown, tally: Tally): readonly JsonObject[] {
  return asList(content).filter((block): block is JsonObject => {
    const isBlank = isObject(block) && block['type'] === 'text' && asString(block['text'])?.trim() === '';
    if (!isObject(block)) tally.add('{n} content block{s} of an unknown shape left out');
    else if (isBlank) tally.add('{n} blank text block{s} left out');
    return isObject(block) && !isBlank;
  });
}

/** What stands around the messages of a request. Older files do not tell it. */
export interface Surroundings {
  /** Empty when nothing is known. */
  readonly instructions: string;
  /** In pi's own form: `name`, `description`, `parameters`. */
  readonly tools: readonly JsonObject[];
}

/** What the system entries of a session come to, in order: texts add up, sections and tools replace their namesakes. */
export function surroundingsOf(entries: Iterable<Entry | undefined>): Surroundings {
  const texts: string[] = [];
  const sections = new Map<string, string>();
  const tools = new Map<unknown, JsonObject>();
  for (const entry of entries) {
    if (entry?.role !== 'system') continue;
    texts.push(entry.text);
    for (const [name, text] of entry.sections) {
      if (text === null) sections.delete(name);
      else sections.set(name, text);
    }
    for (const name of entry.toolsRemoved) tools.delete(name);
    for (const tool of entry.toolsAdded) tools.set(tool['name'], tool);
  }
  const parts = [...texts, ...sections.values()];
  return {
    instructions: parts.filter((part) => part !== '').join('\n\n'),
    tools: [...tools.values()],
  };
}
