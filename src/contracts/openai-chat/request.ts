import type { CheckContext } from '../contract.ts';
import { isObject, type JsonObject, read, readList, readText } from '../json-value.ts';

/** A request body with what is known about its destination. */
export interface ChatRequest {
  readonly body: JsonObject;
  readonly messages: readonly unknown[];
  /** Whether fields besides the messages are known and may be judged. */
  readonly hasFrame: boolean;
  readonly model: string | undefined;
  readonly vendor: string | undefined;
}

/** Vendors whose server is OpenAI's own, with its limits and model names. */
const openaiVendors = new Set(['openai', 'azure']);

/** Reads a body, or a bare list of messages when only messages are known. Undefined when it is neither. */
export function readChatRequest(body: unknown, context: CheckContext): ChatRequest | undefined {
  const hasFrame = context.scope !== 'messages';
  const request = !hasFrame && Array.isArray(body) ? { messages: body } : body;
  if (!isObject(request)) return undefined;
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

/** Whether the server's own limits apply; those of compatible servers are not known. */
export function isOpenai(vendor: string | undefined): boolean {
  return vendor === undefined || openaiVendors.has(vendor);
}

/** The calls of an assistant message; empty for every other message. */
export function readCalls(message: unknown): readonly unknown[] {
  return read(message, 'role') === 'assistant' ? readList(message, 'tool_calls') : [];
}
