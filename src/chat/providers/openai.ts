import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import type { AnswerEvent } from '../../providers/answer-events.ts';
import { assembleCompletion } from '../../providers/openai-stream.ts';
import { postJson } from '../../providers/post-json.ts';
import { upstreamError } from '../../providers/upstream-error.ts';
import type { Access } from './anthropic.ts';
import { liveFetch } from './live-fetch.ts';
import type { ChatProvider } from './provider.ts';
import { openaiWire } from './wire.ts';

const NAME = 'the OpenAI API';
const BASE_URL = 'https://api.openai.com/v1';

/** Chat Completions of OpenAI, or of any server that speaks like it, streamed. */
export function openaiProvider({ apiKey, baseUrl = BASE_URL }: Access): ChatProvider {
  return {
    name: 'openai',
    wire: openaiWire,
    async ask(body, { onText, signal }) {
      const fetch = liveFetch(({ choices }) => {
        const [choice] = asList(choices);
        const delta = isObject(choice) ? choice['delta'] : undefined;
        if (isObject(delta)) onText(asString(delta['content']) ?? '');
      });
      const endpoint = {
        provider: NAME,
        baseUrl,
        options: { model: '', streams: true, fetch },
        assemble: assembleWhole,
      };
      const headers: Record<string, string> =
        apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
      const answer = await postJson(endpoint, {
        path: '/chat/completions',
        headers,
        body: { ...body, stream: true, stream_options: { include_usage: true } },
        signal,
      });
      return decode(answer);
    },
  };
}

function decode(answer: unknown) {
  const usage = isObject(answer) ? readUsage(answer['usage']) : undefined;
  const choice = isObject(answer) ? asList(answer['choices'])[0] : undefined;
  if (!isObject(choice) || !isObject(choice['message'])) throw upstreamError(NAME, 200, answer, usage);
  const { content, tool_calls: calls } = choice['message'];
  const text = typeof content === 'string' ? content : asList(content).map(partText).join('');
  const called = asList(calls).length > 0 ? { tool_calls: calls } : {};
  return { message: { role: 'assistant', content: text, ...called }, usage };
}

function partText(part: unknown): string {
  return isObject(part) ? (asString(part['text']) ?? '') : '';
}

/** The completion with its calls whole: they come in pieces, each under the number of its call. */
function assembleWhole(events: readonly AnswerEvent[]): JsonObject {
  const completion = assembleCompletion(events);
  const choice = asList(completion['choices'])[0];
  if (!isObject(choice) || !isObject(choice['message'])) return completion;
  const calls = new Map<number, JsonObject>();
  for (const { data } of events) for (const piece of callPieces(data)) addPiece(calls, piece);
  if (calls.size === 0) return completion;
  const message = { ...choice['message'], tool_calls: [...calls.values()] };
  return { ...completion, choices: [{ ...choice, message }] };
}

function callPieces(data: JsonObject): readonly JsonObject[] {
  const choice = asList(data['choices']).find((one) => isObject(one) && asCount(one['index']) === 0);
  const delta = isObject(choice) ? choice['delta'] : undefined;
  return isObject(delta) ? asList(delta['tool_calls']).filter(isObject) : [];
}

function addPiece(calls: Map<number, JsonObject>, piece: JsonObject): void {
  const index = asCount(piece['index']);
  const begun = calls.get(index);
  const before = isObject(begun?.['function']) ? begun['function'] : {};
  const added = isObject(piece['function']) ? piece['function'] : {};
  calls.set(index, {
    id: asString(begun?.['id']) ?? asString(piece['id']) ?? `call_${index}`,
    type: 'function',
    function: {
      name: asString(before['name']) ?? asString(added['name']) ?? '',
      arguments: `${asString(before['arguments']) ?? ''}${asString(added['arguments']) ?? ''}`,
    },
  });
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  return {
    promptTokens: asCount(usage['prompt_tokens']),
    outputTokens: asCount(usage['completion_tokens']),
  };
}
