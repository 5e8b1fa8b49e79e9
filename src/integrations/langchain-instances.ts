import { isObject, type JsonObject } from '../conversation/json.ts';
import { openMessage } from '../formats/langchain/format.ts';

type MessageClass = new (fields: JsonObject) => object;

/**
 * The list with every message that was made anew as an object of the class that messages of its type have in the list it
 * was made from. What is in that list, and what has no class there, stays as it is.
 */
export function toInstances<Message>(made: Message[], from: readonly Message[]): Message[] {
  const known = new Set(from);
  const classes = classesOf(from);
  return made.map((message) => (known.has(message) ? message : toInstance(message, classes)));
}

function toInstance<Message>(message: Message, classes: ReadonlyMap<string, MessageClass>): Message {
  const open = openMessage(message);
  const Class = classes.get(open?.type ?? '');
  if (open?.form !== 'plain' || Class === undefined) return message;
  // Pieces of a stream would be put together again, with calls that are gone.
  const { type: _type, tool_call_chunks: _chunks, ...fields } = open.fields;
  return new Class(fields) as Message; // of the same class as others of the list
}

function classesOf(messages: readonly unknown[]): ReadonlyMap<string, MessageClass> {
  const classes = new Map<string, MessageClass>();
  for (const message of messages) {
    const open = openMessage(message);
    if (open?.form !== 'live' || !isObject(message)) continue;
    classes.set(open.type, message.constructor as unknown as MessageClass);
  }
  return classes;
}
