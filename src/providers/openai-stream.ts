import { asCount, asList, isObject, type JsonObject } from '../conversation/json.ts';
import type { AnswerEvent } from './answer-events.ts';

/**
 * A streamed completion as it would have come in one piece: its first choice. One that was cut off has no finish reason;
 * one that failed on the way is its error, with the usage that was reported before.
 */
export function assembleCompletion(events: readonly AnswerEvent[]): JsonObject {
  let content: unknown[] = [];
  let message: JsonObject | undefined;
  let finishReason: unknown = null;
  let usage: unknown;
  for (const { data } of events) {
    // Reported once at the end, or with every chunk, growing.
    usage = data['usage'] ?? usage;
    const choice = asList(data['choices']).find(isFirst);
    const error = data['error'] ?? choice?.['error'];
    if (isObject(error)) return { error, usage };
    if (choice === undefined) continue;
    finishReason = choice['finish_reason'] ?? finishReason;
    // Some servers send the whole message in place of a delta, alone or after all of them.
    if (!isObject(choice['delta']) && isObject(choice['message'])) content = [];
    const piece = choice['delta'] ?? choice['message'];
    if (isObject(piece)) content.push(...partsOf(piece['content']));
    message = { ...message, ...signsIn(piece) };
  }
  // Without a single choice it was no completion.
  if (message === undefined) return { usage };
  return { choices: [{ message: { ...message, content }, finish_reason: finishReason }], usage };
}

function isFirst(choice: unknown): choice is JsonObject {
  return isObject(choice) && asCount(choice['index']) === 0;
}

/** Fields that matter when they are there at all; later chunks hold only more of the same. */
const SIGNS = ['tool_calls', 'function_call', 'refusal'];

function signsIn(piece: unknown): JsonObject {
  if (!isObject(piece)) return {};
  return Object.fromEntries(SIGNS.filter((name) => isGiven(piece[name])).map((name) => [name, piece[name]]));
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

/** Text comes bare or in parts. */
function partsOf(content: unknown): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
}
