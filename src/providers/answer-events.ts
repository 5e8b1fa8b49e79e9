import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import { createEventSplitter } from './event-stream.ts';
import { tryParseJson } from './try-parse-json.ts';

/** One event of a streamed answer. */
export interface AnswerEvent {
  /** What the data says it is, or else the name of the event. */
  readonly type: string;
  readonly data: JsonObject;
}

/** What comes before the first colon of a stream: the name of a field, or nothing where it begins with a comment. */
const FIRST_FIELD = /^\s{0,4}(?:data|event|id|retry)?:/;
/** How OpenAI and everybody who speaks like it end a stream. */
const DONE = '[DONE]';

/**
 * The events of a body that turned out to be a stream; undefined when it is none. Whatever its headers call it: some
 * servers stream without being asked, and some under the name of JSON. Everything behind an event that cannot be read
 * is left out, since an answer with a hole in it would look like a whole one.
 */
export function readAnswerEvents(text: string): readonly AnswerEvent[] | undefined {
  if (!FIRST_FIELD.test(text)) return undefined;
  const splitter = createEventSplitter();
  const events: AnswerEvent[] = [];
  for (const { event, data } of [...splitter.push(new TextEncoder().encode(text)), ...splitter.end()]) {
    if (data.trim() === '' || data.trim() === DONE) continue;
    const value = tryParseJson(data);
    if (!isObject(value)) break;
    events.push({ type: asString(value['type']) ?? event ?? '', data: value });
  }
  return events;
}
