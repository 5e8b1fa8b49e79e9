import type { CheckContext } from '../contract.ts';
import { isGiven, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { resolveVendor } from '../openai-chat/request.ts';
import { itemType } from './items.ts';

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

/** Reads a body, or a bare list of items when only items are known. Undefined when it is neither. */
export function readResponsesRequest(body: unknown, context: CheckContext): ResponsesRequest | undefined {
  const hasFrame = context.scope !== 'messages';
  const request = !hasFrame && Array.isArray(body) ? { input: body } : body;
  if (!isObject(request)) return undefined;
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
