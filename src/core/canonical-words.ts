/**
 * Words that nearly every message has as keys, types and roles: each is written as one byte. Their places are part of the
 * canonical form; a word that is added, moved or removed makes it another one.
 */
export const WORDS = [
  'role',
  'content',
  'type',
  'text',
  'user',
  'assistant',
  'system',
  'developer',
  'tool',
  'model',
  'id',
  'name',
  'input',
  'output',
  'arguments',
  'function',
  'call_id',
  'status',
  'summary',
  'parts',
  'state',
  'tool_use',
  'tool_result',
  'tool_use_id',
  'tool_calls',
  'tool_call_id',
  'is_error',
  'thinking',
  'signature',
  'redacted_thinking',
  'source',
  'image',
  'media_type',
  'data',
  'url',
  'message',
  'input_text',
  'output_text',
  'function_call',
  'function_call_output',
  'reasoning',
  'encrypted_content',
  'functionCall',
  'functionResponse',
  'args',
  'response',
  'toolCallId',
  'toolName',
  'tool-call',
  'tool-result',
  'value',
  'additional_kwargs',
  'response_metadata',
  'human',
  'ai',
] as const;

/** Above every mark, which are ASCII. */
const FIRST_CODE = 0x80;

const codes: ReadonlyMap<string, number> = new Map(
  WORDS.map((word, index) => [word, FIRST_CODE + index] as const),
);

/** The byte of a word; undefined for every other text. */
export function codeOf(word: (typeof WORDS)[number]): number;
export function codeOf(text: string): number | undefined;
export function codeOf(text: string): number | undefined {
  return codes.get(text);
}
