import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Problem } from '../problem.ts';
import type { Prompt } from '../prompt.ts';
import type { World } from '../provider.ts';
import type { ReasoningSeals } from './seals.ts';

/** Whether the answer begins with a compaction: the input demands one, or is over the threshold that the request sets. */
export function isCompactionDue(body: JsonObject, promptTokens: number): boolean {
  if (isTriggered(body)) return true;
  return asList(body['context_management']).some((entry) => {
    const threshold = isObject(entry) ? entry['compact_threshold'] : undefined;
    return typeof threshold === 'number' && promptTokens > threshold;
  });
}

/** Whether the last item of the input demands a compaction, and nothing else. */
export function isTriggered({ input }: JsonObject): boolean {
  const last = asList(input).at(-1);
  return isObject(last) && last['type'] === 'compaction_trigger';
}

/** The refusal of a way to manage the context that the API does not have. */
export function checkContextManagement({ context_management: entries }: JsonObject): Problem | undefined {
  const index = asList(entries).findIndex((entry) => !isObject(entry) || entry['type'] !== 'compaction');
  if (index < 0) return undefined;
  const entry = asList(entries)[index];
  const type = isObject(entry) ? asString(entry['type']) : undefined;
  const message = `Invalid value: '${type ?? ''}'. Supported values are: 'compaction'.`;
  return { status: 400, code: 'invalid_value', param: `context_management[${index}].type`, message };
}

/**
 * What the model gets to see of a list with compactions in it: the newest one, everything behind it, and of what stands
 * before it the user's messages, as the endpoint for compactions leaves them. The very same list when there is none.
 */
export function sinceCompaction(items: readonly unknown[]): readonly unknown[] {
  const newest = items.findLastIndex((item) => isObject(item) && item['type'] === 'compaction');
  return newest <= 0 ? items : [...items.slice(0, newest).filter(isUserMessage), ...items.slice(newest)];
}

/** An item that stands for the whole prompt, as only the server can read it. */
export function writeCompaction(prompt: Prompt, { ids }: World, seals: ReasoningSeals): JsonObject {
  const id = ids('cmp_', 48);
  return { id, type: 'compaction', encrypted_content: seals.encrypt(id, summaryOf(prompt)) };
}

/** What a compaction costs in output. */
export function compactionTokens(prompt: Prompt): number {
  return Math.ceil(prompt.countText(summaryOf(prompt)));
}

function summaryOf({ conversation, tokens }: Prompt): string {
  return `Summary of ${conversation.messages.length} items in ${tokens} tokens.`;
}

/** The user's messages of a list, as the API gives them back. */
export function userMessagesOf(items: readonly unknown[], { ids }: World): readonly JsonObject[] {
  return items.filter(isUserMessage).map((item) => ({
    id: ids('msg_', 48),
    ...item,
    type: 'message',
    status: 'completed',
    content: typeof item['content'] === 'string' ? [inputText(item['content'])] : asList(item['content']),
  }));
}

function inputText(text: string): JsonObject {
  return { type: 'input_text', text };
}

function isUserMessage(item: unknown): item is JsonObject {
  return isObject(item) && item['role'] === 'user';
}
