import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { AnswerEvent } from './answer-events.ts';

/**
 * A streamed message as it would have come in one piece. One that was cut off has no stop reason; one that failed on the
 * way is its error, with the usage that was reported before.
 */
export function assembleMessage(events: readonly AnswerEvent[]): JsonObject {
  const usage = usageOf(events);
  const failure = events.find(({ type, data }) => type === 'error' || isObject(data['error']));
  if (failure !== undefined) return { ...failure.data, usage };
  const beginning = fieldsOf(events, 'message_start', 'message');
  const ending = fieldsOf(events, 'message_delta', 'delta');
  const content = contentOf(events);
  // Without a beginning and without a single block it was no message.
  if (beginning === undefined && content.length === 0) return { usage };
  return { ...beginning, ...ending, content, usage };
}

/** What the start reports of the prompt stays true; the end counts the output. */
function usageOf(events: readonly AnswerEvent[]): JsonObject | undefined {
  const reports = events.flatMap(({ data }) => {
    const started = isObject(data['message']) ? data['message']['usage'] : undefined;
    return [started, data['usage']].filter(isObject);
  });
  return reports.length === 0 ? undefined : Object.fromEntries(reports.flatMap(Object.entries));
}

/** A field of the newest event of a type. */
function fieldsOf(events: readonly AnswerEvent[], type: string, field: string): JsonObject | undefined {
  const value = events.findLast((event) => event.type === type)?.data[field];
  return isObject(value) ? value : undefined;
}

/** Of blocks that are no text it is enough to know that they are there. */
function contentOf(events: readonly AnswerEvent[]): readonly JsonObject[] {
  const blocks = new Map<unknown, JsonObject>();
  for (const { type, data } of events) {
    const { index, content_block: block, delta } = data;
    if (type === 'content_block_start' && isObject(block)) blocks.set(index, block);
    if (type !== 'content_block_delta' || !isObject(delta) || delta['type'] !== 'text_delta') continue;
    const begun = blocks.get(index) ?? { type: 'text' };
    const text = `${asString(begun['text']) ?? ''}${asString(delta['text']) ?? ''}`;
    blocks.set(index, { ...begun, text });
  }
  return [...blocks.values()];
}
