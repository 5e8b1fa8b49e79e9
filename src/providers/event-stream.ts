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
