import { isGiven, isObject, read } from '../json-value.ts';

/** Fields by their JSON name, with the snake-case name that Google's parsers take as well. */
const snakeNames = {
  codeExecutionResult: 'code_execution_result',
  contents: 'contents',
  executableCode: 'executable_code',
  fileData: 'file_data',
  functionCall: 'function_call',
  functionResponse: 'function_response',
  inlineData: 'inline_data',
  mediaResolution: 'media_resolution',
  partMetadata: 'part_metadata',
  parts: 'parts',
  role: 'role',
  systemInstruction: 'system_instruction',
  text: 'text',
  thought: 'thought',
  thoughtSignature: 'thought_signature',
  toolCall: 'tool_call',
  toolResponse: 'tool_response',
  tools: 'tools',
  videoMetadata: 'video_metadata',
} as const;

/** The JSON name of a field that has rules. */
export type FieldName = keyof typeof snakeNames;

/** Both names of a field. */
export function namesOf(name: FieldName): readonly string[] {
  return [name, snakeNames[name]];
}

/** The value of a field under either of its names; undefined when it is missing or null. */
export function field(value: unknown, name: FieldName): unknown {
  const found = read(value, name) ?? read(value, snakeNames[name]);
  return isGiven(found) ? found : undefined;
}

/** A repeated field as a list: Google's parsers take a lone object for a list of one. */
export function listField(value: unknown, name: FieldName): readonly unknown[] {
  const found = field(value, name);
  if (Array.isArray(found)) return found;
  return isObject(found) ? [found] : [];
}
