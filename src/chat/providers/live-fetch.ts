import { isObject, type JsonObject } from '../../conversation/json.ts';
import { createEventSplitter } from '../../providers/event-stream.ts';
import { tryParseJson } from '../../providers/try-parse-json.ts';

/** A `fetch` that tells of every event of a streamed answer while it comes, and passes all of it on. */
export function liveFetch(onEvent: (data: JsonObject) => void): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (!response.ok || response.body === null) return response;
    const splitter = createEventSplitter();
    const watched = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          for (const { data } of splitter.push(chunk)) {
            const value = tryParseJson(data);
            if (isObject(value)) onEvent(value);
          }
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(watched, { status: response.status, headers: response.headers });
  };
}
