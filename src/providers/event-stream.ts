import { asString, isObject, type JsonObject } from '../conversation/json.ts';

/** One block of a stream of server-sent events, as it came and as it reads. */
export interface StreamEvent {
  /** The very bytes, the blank line that ends them included. All of them in a row are the stream. */
  readonly raw: Uint8Array;
  /** Name of the event; undefined when it has none. */
  readonly event: string | undefined;
  /** Its data, lines joined by line feeds; empty for a comment. */
  readonly data: string;
}

/** Takes a stream in chunks and gives each event as soon as it is complete. */
export interface EventSplitter {
  push(chunk: Uint8Array): readonly StreamEvent[];
  /** What is left when the stream is over: at most one event, which was cut. */
  end(): readonly StreamEvent[];
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Splits a stream of server-sent events without losing or changing a byte, so that it can be watched while it is
 * passed on: comments, unknown events and every kind of line end stay as they are, and chunks may be cut anywhere.
 */
export function createEventSplitter(): EventSplitter {
  let storage = new Uint8Array(4096);
  let used = 0;
  let scanned = 0;
  let lineStart = 0;

  /** Room grows by doubling, so that an event that comes byte by byte costs no more than its length. */
  const append = (chunk: Uint8Array) => {
    if (used + chunk.length > storage.length) {
      const larger = new Uint8Array(2 * (used + chunk.length));
      larger.set(storage.subarray(0, used));
      storage = larger;
    }
    storage.set(chunk, used);
    used += chunk.length;
  };

  const forget = (end: number) => {
    storage.copyWithin(0, end, used);
    used -= end;
    scanned -= end;
    lineStart -= end;
  };

  return {
    push(chunk) {
      append(chunk);
      const events: StreamEvent[] = [];
      let begin = 0;
      for (; scanned < used; scanned++) {
        const byte = storage[scanned];
        if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue;
        // Whether a line feed belongs to a carriage return the next byte has to tell.
        if (byte === CARRIAGE_RETURN && scanned + 1 === used) break;
        const isBlank = scanned === lineStart;
        if (byte === CARRIAGE_RETURN && storage[scanned + 1] === LINE_FEED) scanned++;
        lineStart = scanned + 1;
        if (!isBlank) continue;
        events.push(readEvent(storage.slice(begin, lineStart)));
        begin = lineStart;
      }
      forget(begin);
      return events;
    },
    end() {
      const rest = storage.slice(0, used);
      forget(used);
      return rest.length === 0 ? [] : [readEvent(rest)];
    },
  };
}

function readEvent(raw: Uint8Array): StreamEvent {
  let event: string | undefined;
  const data: string[] = [];
  for (const line of new TextDecoder().decode(raw).split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
  return { raw, event, data: data.join('\n') };
}

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

/** The value of a JSON text; undefined when it is none. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
