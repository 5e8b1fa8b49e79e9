import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';

/** What a provider's response adds to the conversation. */
export interface ResponseTurn {
  /** Name of the wire format it is written in. */
  readonly format: string;
  /** Messages as a later request would carry them. */
  readonly messages: readonly unknown[];
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
}

/** The turn in a response body of a known provider; undefined for everything else, errors included. */
export function readResponse(value: unknown): ResponseTurn | undefined {
  if (!isObject(value)) return undefined;
  for (const { format, messagesOf, usageOf } of responseBodies) {
    const messages = messagesOf(value);
    if (messages === undefined) continue;
    const model = asString(value['model']) ?? asString(value['modelVersion']);
    return {
      format,
      messages,
      id: asString(value['id'] ?? value['responseId']),
      model,
      usage: usageOf(value),
    };
  }
  return undefined;
}

interface ResponseBody {
  readonly format: string;
  /** The messages of a body of this kind; undefined for other values. */
  readonly messagesOf: (body: JsonObject) => readonly unknown[] | undefined;
  readonly usageOf: (body: JsonObject) => Usage | undefined;
}

const responseBodies: readonly ResponseBody[] = [
  {
    format: 'openai-chat',
    messagesOf(body) {
      const [choice] = asList(body['choices']);
      const message = isObject(choice) ? choice['message'] : undefined;
      return isObject(message) ? [chatMessage(message)] : undefined;
    },
    usageOf: (body) => toUsage(body['usage'], ['prompt_tokens'], ['completion_tokens']),
  },
  {
    format: 'anthropic-messages',
    messagesOf(body) {
      const { type, role, content } = body;
      const isResponse = type === 'message' && role === 'assistant' && Array.isArray(content);
      // An item of the Responses API looks the same but for these.
      if (!isResponse || !('stop_reason' in body || 'usage' in body)) return undefined;
      return content.length === 0 ? [] : [{ role, content }];
    },
    usageOf: (body) =>
      toUsage(
        body['usage'],
        ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
        ['output_tokens'],
      ),
  },
  {
    format: 'openai-responses',
    messagesOf: (body) =>
      body['object'] === 'response' && Array.isArray(body['output']) ? body['output'] : undefined,
    usageOf: (body) => toUsage(body['usage'], ['input_tokens'], ['output_tokens']),
  },
  {
    format: 'gemini',
    messagesOf(body) {
      const [candidate] = asList(body['candidates']);
      const content = isObject(candidate) ? candidate['content'] : undefined;
      return isObject(content) && Array.isArray(content['parts']) ? [content] : undefined;
    },
    usageOf: (body) =>
      toUsage(
        body['usageMetadata'],
        ['promptTokenCount', 'toolUsePromptTokenCount'],
        ['candidatesTokenCount', 'thoughtsTokenCount'],
      ),
  },
];

/** Fields of a chat response's message that a request takes; `null` in them means that they are not there. */
const CHAT_FIELDS = [
  'refusal',
  'audio',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
];

function chatMessage(message: JsonObject): JsonObject {
  const fields = CHAT_FIELDS.flatMap((name) =>
    message[name] === undefined || message[name] === null ? [] : [[name, message[name]] as const],
  );
  return {
    role: message['role'] ?? 'assistant',
    content: message['content'] ?? null,
    ...Object.fromEntries(fields),
  };
}

function toUsage(usage: unknown, prompt: readonly string[], output: readonly string[]): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const sum = (names: readonly string[]): number =>
    names.reduce((total, name) => total + asCount(usage[name]), 0);
  const promptTokens = sum(prompt);
  return promptTokens === 0 ? undefined : { promptTokens, outputTokens: sum(output) };
}
