import { withMessages } from '../../conversation/format.ts';
import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { asObject } from '../json.ts';
import { measurePrompt, type Prompt } from '../prompt.ts';

const defaultTriggerTokens = 150_000;

/** A prompt over the threshold that its request sets, and its summary. */
export interface ThresholdCompaction {
  readonly block: JsonObject;
  /** Whether the answer ends behind the summary. */
  readonly pauses: boolean;
  readonly outputTokens: number;
  /** The prompt that the model answers then. */
  readonly compactedTokens: number;
}

/** What `context_management` with `compact_20260112` makes of a prompt; undefined when it is not due. */
export function compactAtThreshold(body: JsonObject, prompt: Prompt): ThresholdCompaction | undefined {
  const edit = asList(asObject(body['context_management'])['edits'])
    .map(asObject)
    .find(({ type }) => type === 'compact_20260112');
  if (edit === undefined || prompt.tokens <= triggerOf(edit)) return undefined;
  const { conversation } = prompt;
  const content = `Summary of ${conversation.messages.length} messages in ${prompt.tokens} tokens.`;
  const block = { type: 'compaction', content, encrypted_content: null };
  const message = anthropicMessages.readMessage({ role: 'assistant', content: [block] });
  return {
    block,
    pauses: edit['pause_after_compaction'] === true,
    outputTokens: Math.ceil(prompt.countText(content)),
    compactedTokens: measurePrompt(withMessages(conversation, [message])).tokens,
  };
}

function triggerOf({ trigger }: JsonObject): number {
  const { value } = asObject(trigger);
  return typeof value === 'number' ? value : defaultTriggerTokens;
}

/**
 * The request without everything before its newest summary made at a threshold, which the API ignores. The very same one
 * when there is none. A summary without content has failed and stands for nothing.
 */
export function sinceCompaction(body: JsonObject): JsonObject {
  const messages = asList(body['messages']);
  const newest = messages.findLastIndex((message) => findCompaction(message) >= 0);
  const message = messages[newest];
  const place = findCompaction(message);
  if (!isObject(message) || (newest === 0 && place === 0)) return body;
  const content = asList(message['content']).slice(place);
  return { ...body, messages: [{ ...message, content }, ...messages.slice(newest + 1)] };
}

/** Index of the newest block in a message that stands for everything before it; -1 when there is none. */
export function findCompaction(message: unknown): number {
  return asList(asObject(message)['content'])
    .map(asObject)
    .findLastIndex(
      ({ type, content, signature }) =>
        type === 'compaction' && typeof content === 'string' && typeof signature !== 'string',
    );
}
