import type { CheckContext, Violation } from '../contract.ts';
import { describeType, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { defineRules, report } from '../rule.ts';

/** A request body with what is known about its destination. */
export interface ChatRequest {
  readonly body: JsonObject;
  readonly messages: readonly unknown[];
  /** Whether fields besides the messages are known and may be judged. */
  readonly hasFrame: boolean;
  readonly model: string | undefined;
  readonly vendor: string | undefined;
}

/** Rules about single values, which several groups report. */
export const valueRules = defineRules({
  'wrong-kind-of-value': {
    alias: 'C0',
    title: 'every field holds the kind of value the schema names',
    fix: 'Give the field the kind of value the schema names.',
    evidence: 'reported',
    wording: (path: string, expected: string, value: unknown) =>
      `Invalid type for '${path}': expected ${expected}, but got ${describeType(value)} instead.`,
  },
  'missing-field': {
    alias: 'C0',
    title: 'required fields are there',
    fix: 'Add the missing field.',
    evidence: 'reported',
    wording: (path: string, needed?: { readonly field: string; readonly byRole: string }) =>
      needed === undefined
        ? `Missing required parameter: '${path}'.`
        : `Missing parameter '${needed.field}': messages with role '${needed.byRole}' must have a '${needed.field}'.`,
  },
});

/** Reads a body, or a bare list of messages when only messages are known. */
export function readChatRequest(body: unknown, context: CheckContext): ChatRequest | readonly Violation[] {
  const hasFrame = context.scope !== 'messages';
  const request = !hasFrame && Array.isArray(body) ? { messages: body } : body;
  if (!isObject(request)) return [report(valueRules['wrong-kind-of-value'], 'body', 'an object', body)];
  const model = context.model ?? readText(request, 'model');
  return {
    body: request,
    messages: readList(request, 'messages'),
    hasFrame,
    model,
    vendor: resolveVendor(context.vendor, model),
  };
}

/** How the names of OpenAI's own models begin. */
const openaiModel = /^(?:ft:)?(?:gpt-|chatgpt-|codex-|computer-use-|o\d)/;

/** The vendor in lower case. Where none is named, a model of another maker means a server that is not known. */
export function resolveVendor(vendor: string | undefined, model: string | undefined): string | undefined {
  if (vendor !== undefined) return vendor.toLowerCase();
  return model === undefined || openaiModel.test(model) ? undefined : 'unknown';
}

/** Whether the server is OpenAI's own, with its limits and model names; those of compatible servers are not known. */
export function isOpenai(vendor: string | undefined): boolean {
  return vendor === undefined || vendor === 'openai' || vendor === 'azure';
}

/** The calls of an assistant message; empty for every other message. */
export function readCalls(message: unknown): readonly unknown[] {
  return read(message, 'role') === 'assistant' ? readList(message, 'tool_calls') : [];
}
