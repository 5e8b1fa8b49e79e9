import type { JsonObject } from '../../conversation/json.ts';

/** A call of the chat format, without its result. */
export interface NativeCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Whether a tool may have this name: a folded call with another one is legal as text, and as a call it is refused. */
export function isLegalName(name: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name);
}

/** An assistant message of the chat format: none when it would say nothing. Blank text counts as no text. */
export function assistantMessages(text: string, calls: readonly NativeCall[]): readonly JsonObject[] {
  const isBlank = text.trim() === '';
  if (calls.length === 0) return isBlank ? [] : [{ role: 'assistant', content: text }];
  const toolCalls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  return [{ role: 'assistant', content: isBlank ? null : text, tool_calls: toolCalls }];
}

export function toolMessage(id: string, content: string): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}
