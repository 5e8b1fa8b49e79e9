import type { CheckContext, Violation } from '../contract.ts';
import { describeType, isGiven, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { resolveVendor } from '../openai-chat/request.ts';
import { defineRules, report } from '../rule.ts';

/** A request body with what is known about its destination. */
export interface ResponsesRequest {
  readonly body: JsonObject;
  readonly items: readonly unknown[];
  readonly hasFrame: boolean;
  /** Whether the server holds history that the body does not show. */
  readonly hidesHistory: boolean;
  readonly model: string | undefined;
  readonly vendor: string | undefined;
  readonly context: CheckContext;
}

/** Rules about single values. */
export const valueRules = defineRules({
  'wrong-kind-of-value': {
    alias: 'R0',
    title: 'every field holds the kind of value the schema names',
    fix: 'Give the field the kind of value the schema names.',
    evidence: 'inferred',
    wording: (path: string, expected: string, value: unknown) =>
      `Invalid type for '${path}': expected ${expected}, but got ${describeType(value)} instead.`,
  },
  'missing-field': {
    alias: 'R0',
    title: 'required fields are there',
    fix: 'Add the missing field.',
    evidence: 'inferred',
    wording: (path: string) => `Missing required parameter: '${path}'.`,
  },
});

/** Reads a body, or a bare list of items when only items are known. */
export function readResponsesRequest(
  body: unknown,
  context: CheckContext,
): ResponsesRequest | readonly Violation[] {
  const hasFrame = context.scope !== 'messages';
  const request = !hasFrame && Array.isArray(body) ? { input: body } : body;
  if (!isObject(request)) return [report(valueRules['wrong-kind-of-value'], 'body', 'an object', body)];
  const model = context.model ?? readText(request, 'model');
  const items = readList(request, 'input');
  return {
    body: request,
    items,
    hasFrame,
    hidesHistory:
      isGiven(read(request, 'previous_response_id')) ||
      isGiven(read(request, 'conversation')) ||
      items.some((item) => itemType(item) === 'item_reference'),
    model,
    vendor: resolveVendor(context.vendor, model),
    context,
  };
}

/** What the server knows about one type of input item. */
interface ItemKind {
  /** How an id that the server gave out begins. Left out where no recorded id or error names it. */
  readonly idPrefix?: string;
  /** What the errors call this kind of call; present for calls that the client answers by `call_id`. */
  readonly call?: string;
  /** The same for the answers. */
  readonly output?: string;
  /** Whether the model writes it after thinking, so that it can require a reasoning item before it. */
  readonly followsReasoning?: true;
  /** Whether it comes from the client: a new response of the model begins behind it. */
  readonly isFromClient?: true;
}

/** The input items of `POST /v1/responses`. Types that are not listed are held to nothing. */
const kinds = new Map<string, ItemKind>([
  ['message', { idPrefix: 'msg', followsReasoning: true }],
  ['reasoning', { idPrefix: 'rs' }],
  ['compaction', { idPrefix: 'cmp' }],
  ['function_call', { idPrefix: 'fc', call: 'function call', followsReasoning: true }],
  ['function_call_output', { output: 'function call output', isFromClient: true }],
  ['custom_tool_call', { idPrefix: 'ctc', call: 'custom tool call', followsReasoning: true }],
  ['custom_tool_call_output', { output: 'custom tool call output', isFromClient: true }],
  ['local_shell_call', { call: 'local shell call', followsReasoning: true }],
  ['local_shell_call_output', { output: 'local shell call output', isFromClient: true }],
  ['shell_call', { call: 'shell call', followsReasoning: true }],
  ['shell_call_output', { output: 'shell call output', isFromClient: true }],
  ['apply_patch_call', { call: 'apply patch call', followsReasoning: true }],
  ['apply_patch_call_output', { output: 'apply patch call output', isFromClient: true }],
  ['computer_call', { call: 'computer call', followsReasoning: true }],
  ['computer_call_output', { output: 'computer call output', isFromClient: true }],
  ['tool_search_call', { idPrefix: 'tsc', call: 'tool search call', followsReasoning: true }],
  ['tool_search_output', { idPrefix: 'tso', output: 'tool search output' }],
  ['web_search_call', { idPrefix: 'ws', followsReasoning: true }],
  ['file_search_call', { followsReasoning: true }],
  ['code_interpreter_call', { idPrefix: 'ci', followsReasoning: true }],
  ['image_generation_call', { idPrefix: 'ig', followsReasoning: true }],
  ['mcp_call', { idPrefix: 'mcp', followsReasoning: true }],
  ['mcp_list_tools', { idPrefix: 'mcpl' }],
  ['mcp_approval_response', { isFromClient: true }],
  ['additional_tools', { isFromClient: true }],
  ['configuration_update', { isFromClient: true }],
  ['compaction_trigger', { isFromClient: true }],
]);

const unknownKind: ItemKind = {};

/** The type of an item; a message may leave it out. Undefined when it is no item at all. */
export function itemType(item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  return readText(item, 'type') ?? (readText(item, 'role') === undefined ? undefined : 'message');
}

/** What is known about an item's type; nothing is for types that are not listed. */
export function itemKind(item: unknown): ItemKind {
  return kinds.get(itemType(item) ?? '') ?? unknownKind;
}

/** Whether the client wrote the item: answers, and messages of every role but the assistant's. */
export function isFromClient(item: unknown): boolean {
  if (itemType(item) === 'message') return read(item, 'role') !== 'assistant';
  return itemKind(item).isFromClient === true;
}

/**
 * The ids that pair a call with its answer, the telling one first. The older shell tool's answers carry the id of their
 * call as their own `id`; whether that is the call's `call_id` or its item id, the types leave open.
 */
export function callIds(item: unknown): readonly string[] {
  const names = (itemType(item) ?? '').startsWith('local_shell_call') ? ['call_id', 'id'] : ['call_id'];
  return names.flatMap((name) => readText(item, name) ?? []);
}
