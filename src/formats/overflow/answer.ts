import { asCount, asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Answer } from './soft.ts';

type AnswerReader = (body: JsonObject) => Answer | undefined;

/** One reader per response shape; the first that knows the shape answers. */
const readers: readonly AnswerReader[] = [readMessages, readChat, readResponses, readGemini, readOllama];

/**
 * Reads the signs of a soft overflow from a complete response body: Anthropic Messages, OpenAI Chat and Responses
 * (also the payload of its closing event), Gemini, Ollama's own API. Gives no signs for any other shape.
 */
export function readAnswer(body: unknown): Answer {
  if (!isObject(body)) return {};
  for (const read of readers) {
    const answer = read(body);
    if (answer !== undefined) return answer;
  }
  return {};
}

function readMessages(body: JsonObject): Answer | undefined {
  if (body['type'] !== 'message') return undefined;
  const usage = toObject(body['usage']);
  return {
    stopReason: toReason(body['stop_reason']),
    promptTokens: total(usage, ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']),
    outputTokens: total(usage, ['output_tokens']),
    hasContent: asList(body['content']).length > 0,
  };
}

function readChat(body: JsonObject): Answer | undefined {
  if (!Array.isArray(body['choices'])) return undefined;
  const choice = toObject(body['choices'][0]);
  const message = toObject(choice['message']);
  const usage = toObject(body['usage']);
  return {
    stopReason: toReason(choice['finish_reason']),
    promptTokens: total(usage, ['prompt_tokens']),
    outputTokens: total(usage, ['completion_tokens']),
    hasContent: ['content', 'tool_calls', 'refusal', 'reasoning_content'].some((key) =>
      isFilled(message[key]),
    ),
  };
}

function readResponses(body: JsonObject): Answer | undefined {
  const response = isObject(body['response']) ? body['response'] : body;
  if (response['object'] !== 'response') return undefined;
  const usage = toObject(response['usage']);
  return {
    stopReason: toReason(toObject(response['incomplete_details'])['reason']) ?? toReason(response['status']),
    promptTokens: total(usage, ['input_tokens']),
    outputTokens: total(usage, ['output_tokens']),
    hasContent: asList(response['output']).length > 0,
  };
}

function readGemini(body: JsonObject): Answer | undefined {
  if (!Array.isArray(body['candidates'])) return undefined;
  const candidate = toObject(body['candidates'][0]);
  const usage = toObject(body['usageMetadata']);
  return {
    stopReason: toReason(candidate['finishReason']),
    promptTokens: total(usage, ['promptTokenCount']),
    outputTokens: total(usage, ['candidatesTokenCount', 'thoughtsTokenCount']),
    hasContent: asList(toObject(candidate['content'])['parts']).length > 0,
  };
}

function readOllama(body: JsonObject): Answer | undefined {
  if (typeof body['done'] !== 'boolean') return undefined;
  const message = toObject(body['message']);
  return {
    stopReason: toReason(body['done_reason']),
    promptTokens: total(body, ['prompt_eval_count']),
    outputTokens: total(body, ['eval_count']),
    hasContent: isFilled(message['content']) || isFilled(message['tool_calls']) || isFilled(body['response']),
  };
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function toReason(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
}

/** The sum of these counts, or undefined when the provider reported none of them. */
function total(usage: JsonObject, keys: readonly string[]): number | undefined {
  const reported = keys.filter((key) => typeof usage[key] === 'number');
  return reported.length === 0 ? undefined : reported.reduce((sum, key) => sum + asCount(usage[key]), 0);
}
