import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';

/** Who wrote an item: the model in its response, or the client before or after it. */
type ItemMaker = 'model' | 'client';

const makers = new Map<string, ItemMaker>([
  ['reasoning', 'model'],
  ['function_call', 'model'],
  ['function_call_output', 'client'],
  ['custom_tool_call', 'model'],
  ['custom_tool_call_output', 'client'],
  ['local_shell_call', 'model'],
  ['local_shell_call_output', 'client'],
  ['tool_search_call', 'model'],
  ['tool_search_output', 'client'],
  ['tool_search_call_output', 'client'],
  ['web_search_call', 'model'],
  ['image_generation_call', 'model'],
  ['agent_message', 'client'],
  ['compaction', 'client'],
  ['compaction_summary', 'client'],
  ['context_compaction', 'client'],
]);

/** Who wrote this item; undefined when it is of no type that the Responses API takes (`ghost_snapshot`, `other`). */
export function itemMaker(item: JsonObject): ItemMaker | undefined {
  const type = asString(item['type']) ?? '';
  if (type === 'message') return item['role'] === 'assistant' ? 'model' : 'client';
  return makers.get(type);
}

/** Whether the item has what its type demands, as far as a reader depends on it. */
export function isWholeItem(item: JsonObject): boolean {
  if (item['type'] !== 'message') return typeof item['type'] === 'string';
  return (
    typeof item['role'] === 'string' &&
    (typeof item['content'] === 'string' || Array.isArray(item['content']))
  );
}

/** How user messages begin that the harness writes itself; they open no turn. */
const harnessOpenings = [
  '# AGENTS.md instructions',
  '<environment_context>',
  '<skill>',
  '<subagent_notification>',
  '<turn_aborted>',
  '<user_instructions>',
  '<user_shell_command>',
];

/** Whether the item is a message of the human's, which opens a turn. */
export function opensUserTurn(item: unknown): boolean {
  if (!isObject(item) || item['type'] !== 'message' || item['role'] !== 'user') return false;
  const text = openingText(item['content']);
  return !harnessOpenings.some((opening) => text.startsWith(opening));
}

function openingText(content: unknown): string {
  if (typeof content === 'string') return content;
  const first = asList(content)[0];
  return isObject(first) ? (asString(first['text']) ?? '') : '';
}

/** A user message with this text. */
export function userMessage(text: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
