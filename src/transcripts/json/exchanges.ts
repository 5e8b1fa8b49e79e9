import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import { formats } from '../../formats/registry.ts';
import { usageOf } from '../records.ts';

/** A request found in a value, and the answer to it if the value is a log record that has one. */
export interface FoundRequest {
  /** A request body or a bare list of messages. The very value of the record, unless it had to be put together. */
  readonly body: unknown;
  /** Path of the list of messages in the value, and the list itself. */
  readonly path: string;
  readonly list: readonly unknown[];
  /** Key of the list in the body; undefined for a bare list. */
  readonly key: string | undefined;
  readonly response: ResponseTurn | undefined;
  /** Whether the record has something in the place of a response that is none. */
  readonly hasOddResponse: boolean;
}

/** The request in a body, in a wrapper around one, or in a log record; undefined when there is none. */
export function findRequest(value: JsonObject): FoundRequest | undefined {
  const located = locate(value, '', 2);
  if (located === undefined) return undefined;
  const answers = RESPONSE_KEYS.flatMap((key) => (isObject(value[key]) ? [value[key]] : []));
  const response = [value, ...answers, ...answers.map((answer) => answer['body'])]
    .map(readResponse)
    .find((turn) => turn !== undefined);
  return { ...located, response, hasOddResponse: response === undefined && answers.length > 0 };
}

/** Whether a value that stands by itself is a message of one of the wire formats: of other records, some have roles too. */
export function isLooseMessage(value: unknown): boolean {
  if (!isObject(value) || !isMessage(value)) return false;
  return value['role'] === undefined || ROLES.has(value['role']);
}

const ROLES = new Set<unknown>(['system', 'developer', 'user', 'assistant', 'tool', 'function', 'model']);

/**
 * Whether an element of a list can be a message (or item, or content) of one of the wire formats. Of one that has neither
 * a role nor a type, a format must be certain.
 */
export function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (typeof value['role'] === 'string') return true;
  const type = asString(value['type']);
  if (type === undefined) return formats.some((format) => format.recognise([value]) === 'certain');
  return (
    ITEM_TYPES.has(type) ||
    type.endsWith('_call') ||
    type.endsWith('_call_output') ||
    isLangchain(value, type)
  );
}

/** LangChain's messages have a type where others have a role, in either of the forms in which they are stored. */
function isLangchain(value: JsonObject, type: string): boolean {
  if (type === 'constructor') return value['lc'] === 1 && isObject(value['kwargs']);
  return LANGCHAIN_TYPES.has(type) && (isObject(value['data']) || value['content'] !== undefined);
}

const LANGCHAIN_TYPES = new Set(['human', 'ai', 'system', 'tool', 'function', 'chat', 'generic']);

/** Items of the Responses API that are named neither a call nor the output of one. */
const ITEM_TYPES = new Set([
  'reasoning',
  'item_reference',
  'compaction',
  'compaction_trigger',
  'additional_tools',
  'configuration_update',
  'tool_search_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
]);

/** Where a body has its messages. `input` comes late: bodies of other formats, and log records, have one too. */
const LIST_KEYS = [...new Set(formats.toReversed().map(({ listKey }) => listKey))];
/** Where records of experiments have theirs. */
const WRAPPER_KEYS = ['traj', 'trajectory', 'conversation', 'history', 'dialog'];
/** Where log records have the request. */
const REQUEST_KEYS = [
  'request',
  'body',
  'request_body',
  'requestBody',
  'kwargs',
  'inputs',
  'input',
  'params',
  'json',
];
/** Where log records have the response. */
const RESPONSE_KEYS = ['response', 'response_body', 'responseBody', 'output', 'outputs', 'completion'];
/** What of a log record, or of the arguments kept in it, belongs to the request beside its messages. */
const REQUEST_FIELDS = [
  'model',
  'system',
  'instructions',
  'systemInstruction',
  'tools',
  'tool_choice',
  'toolConfig',
];

type Located = Pick<FoundRequest, 'body' | 'path' | 'list' | 'key'>;

function locate(value: JsonObject, prefix: string, depth: number): Located | undefined {
  return locateBody(value, prefix) ?? locateList(value, prefix) ?? locateInside(value, prefix, depth);
}

function locateBody(value: JsonObject, prefix: string): Located | undefined {
  const key = LIST_KEYS.find((name) => Array.isArray(value[name]));
  if (key !== undefined) {
    const list = value[key];
    if (!Array.isArray(list) || !isMessageList(list, key)) return undefined;
    return { body: isLogRecord(value) ? bodyOfRecord(value, key) : value, path: prefix + key, list, key };
  }
  // Data sets have an `input` text too; a request names its model.
  const { input, model } = value;
  if (typeof input !== 'string' || typeof model !== 'string') return undefined;
  return { body: value, path: `${prefix}input`, list: [{ role: 'user', content: input }], key: 'input' };
}

/** The Responses API takes ever new types of items: among items that are known, whatever names its type is one too. */
function isMessageList(list: readonly unknown[], key: string): boolean {
  if (key !== 'input') return list.every(isMessage);
  const isItem = (value: unknown) =>
    isMessage(value) || (isObject(value) && typeof value['type'] === 'string');
  return list.every(isItem) && (list.length === 0 || list.some(isMessage));
}

function isLogRecord(value: JsonObject): boolean {
  return isObject(value['kwargs']) || RESPONSE_KEYS.some((key) => value[key] !== undefined);
}

function bodyOfRecord(value: JsonObject, key: string): JsonObject {
  const kwargs: JsonObject = isObject(value['kwargs']) ? value['kwargs'] : {};
  const fields = REQUEST_FIELDS.flatMap((name) => {
    const field = kwargs[name] ?? value[name];
    return field === undefined || field === null ? [] : [[name, field] as const];
  });
  return { ...Object.fromEntries(fields), [key]: value[key] };
}

function locateList(value: JsonObject, prefix: string): Located | undefined {
  for (const key of WRAPPER_KEYS) {
    const list = value[key];
    if (Array.isArray(list) && list.length > 0 && list.every(isMessage)) {
      return { body: list, path: prefix + key, list, key: undefined };
    }
  }
  return undefined;
}

function locateInside(value: JsonObject, prefix: string, depth: number): Located | undefined {
  if (depth === 0) return undefined;
  for (const key of REQUEST_KEYS) {
    const inner = value[key];
    const located = isObject(inner) ? locate(inner, `${prefix}${key}.`, depth - 1) : undefined;
    if (located !== undefined) return located;
  }
  return undefined;
}

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
    usageOf: (body) => readUsage(body['usage'], ['prompt_tokens'], ['completion_tokens']),
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
      readUsage(
        body['usage'],
        ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
        ['output_tokens'],
      ),
  },
  {
    format: 'openai-responses',
    messagesOf: (body) =>
      body['object'] === 'response' && Array.isArray(body['output']) ? body['output'] : undefined,
    usageOf: (body) => readUsage(body['usage'], ['input_tokens'], ['output_tokens']),
  },
  {
    format: 'gemini',
    messagesOf(body) {
      const [candidate] = asList(body['candidates']);
      const content = isObject(candidate) ? candidate['content'] : undefined;
      return isObject(content) && Array.isArray(content['parts']) ? [content] : undefined;
    },
    usageOf: (body) =>
      readUsage(
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

/** A response that does not count its prompt says nothing about the size of the conversation. */
function readUsage(usage: unknown, prompt: readonly string[], output: readonly string[]): Usage | undefined {
  const counted = usageOf(usage, prompt, output);
  return counted?.promptTokens === 0 ? undefined : counted;
}
