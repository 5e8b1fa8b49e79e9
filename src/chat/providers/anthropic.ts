import { asCount, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import type { AnswerEvent } from '../../providers/answer-events.ts';
import { assembleMessage } from '../../providers/anthropic-stream.ts';
import { postJson } from '../../providers/post-json.ts';
import { tryParseJson } from '../../providers/try-parse-json.ts';
import { upstreamError } from '../../providers/upstream-error.ts';
import { liveFetch } from './live-fetch.ts';
import type { ChatProvider } from './provider.ts';
import { anthropicWire } from './wire.ts';

const NAME = 'the Anthropic API';
const BASE_URL = 'https://api.anthropic.com';
const VERSION = '2023-06-01';

export interface Access {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

/** The Anthropic Messages API, streamed. */
export function anthropicProvider({ apiKey, baseUrl }: Access): ChatProvider {
  const stem = (baseUrl ?? BASE_URL).replace(/\/v1\/?$/, '');
  return {
    name: 'anthropic',
    wire: anthropicWire,
    async ask(body, { onText, signal }) {
      const fetch = liveFetch(({ delta }) => {
        if (isObject(delta) && delta['type'] === 'text_delta') onText(asString(delta['text']) ?? '');
      });
      const endpoint = {
        provider: NAME,
        baseUrl: stem,
        options: { model: '', streams: true, fetch },
        assemble: assembleWhole,
      };
      const headers = {
        'anthropic-version': VERSION,
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
      };
      const answer = await postJson(endpoint, {
        path: '/v1/messages',
        headers,
        // The provider marks the end of the prompt for its cache by itself: no message has to change for it.
        body: { ...body, cache_control: { type: 'ephemeral' }, stream: true },
        signal,
      });
      const usage = isObject(answer) ? readUsage(answer['usage']) : undefined;
      if (!isObject(answer) || !Array.isArray(answer['content']))
        throw upstreamError(NAME, 200, answer, usage);
      return { message: { role: 'assistant', content: answer['content'] }, usage };
    },
  };
}

/** The message with everything that a next request has to give back: calls with their input, thinking with its signature. */
function assembleWhole(events: readonly AnswerEvent[]): JsonObject {
  const message = assembleMessage(events);
  if (!Array.isArray(message['content'])) return message;
  const blocks = new Map<unknown, JsonObject>();
  for (const { type, data } of events) {
    const { index, content_block: block, delta } = data;
    if (type === 'content_block_start' && isObject(block)) blocks.set(index, block);
    const begun = blocks.get(index);
    if (type === 'content_block_delta' && isObject(delta) && begun !== undefined)
      blocks.set(index, grown(begun, delta));
  }
  return { ...message, content: [...blocks.values()].map(withInput) };
}

/** What a delta adds to its block, by the field that both have. */
function grown(block: JsonObject, delta: JsonObject): JsonObject {
  const added = ['text', 'thinking', 'signature', 'partial_json'].find(
    (name) => asString(delta[name]) !== undefined,
  );
  if (added === undefined) return block;
  return { ...block, [added]: `${asString(block[added]) ?? ''}${asString(delta[added])}` };
}

function withInput(block: JsonObject): JsonObject {
  const { partial_json: written, ...rest } = block;
  if (typeof written !== 'string') return block;
  const input = tryParseJson(written);
  return { ...rest, input: isObject(input) ? input : {} };
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
  return {
    promptTokens: names.reduce((sum, name) => sum + asCount(usage[name]), 0),
    outputTokens: asCount(usage['output_tokens']),
  };
}
