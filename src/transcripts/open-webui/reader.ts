import type { Place } from '../../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { createTally, originAt, placeInside, type Tally, timestampOf, usageOf } from '../records.ts';
import type { Origin, Reject, Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';
import { unfoldAssistant } from './unfold.ts';

/**
 * Chats exported from Open WebUI, as OpenAI chat messages: of each chat the branch that was open last. Folded tool
 * calls are unfolded where that is exact; reasoning is shown to people and never sent, so it is left out.
 */
export const openWebui: TranscriptReader = {
  name: 'open-webui',
  product: 'Open WebUI',
  summary: 'chats exported from Open WebUI (JSON)',
  location: undefined,
  recognise: (sample) => sample.some(({ value }) => findChat(value) !== undefined),
  open: openFile,
};

interface Chat {
  readonly chat: JsonObject;
  /** Where in the value the chat stands. */
  readonly path: string;
}

function findChat(value: unknown): Chat | undefined {
  if (!isObject(value)) return undefined;
  const { chat } = value;
  if (isObject(chat) && (isHistory(chat['history']) || isFlatChat(chat))) return { chat, path: 'chat.' };
  return isHistory(value['history']) ? { chat: value, path: '' } : undefined;
}

/** Chats of the first versions have no tree. Their list of models tells them from other things called a chat. */
function isFlatChat(chat: JsonObject): boolean {
  return Array.isArray(chat['messages']) && Array.isArray(chat['models']);
}

function isHistory(value: unknown): value is JsonObject {
  return isObject(value) && isObject(value['messages']) && 'currentId' in value;
}

function openFile(reject: Reject): TranscriptFold {
  let found = 0;
  return {
    *add({ value, place }: JsonEntry) {
      const chat = findChat(value);
      if (chat === undefined) {
        reject(place, 'expected an Open WebUI chat: `chat.history` or `chat.messages`');
        return;
      }
      found++;
      yield toTranscript(
        chat,
        asString(isObject(value) ? value['title'] : undefined) ?? `chat ${found}`,
        place,
      );
    },
    end: () => [],
  };
}

interface Placed {
  readonly message: JsonObject;
  readonly path: string;
}

interface Sent {
  readonly message: JsonObject;
  readonly origin: Origin;
}

function toTranscript({ chat, path }: Chat, title: string, place: Place): Transcript {
  const tally = createTally();
  const branch = branchOf(chat, tally);
  const sent = [
    ...systemPrompt(chat, placeInside(place, `${path}params.system`)),
    ...branch.flatMap((placed) => readMessage(placed, placeInside(place, path + placed.path), tally)),
  ];
  const answered = branch.findLast(({ message }) => typeof message['model'] === 'string');
  return {
    reader: openWebui.name,
    format: 'openai-chat',
    title,
    kind: 'main',
    model: asString(answered?.message['model']) ?? asString(asList(chat['models'])[0]),
    segments: [
      {
        body: sent.map(({ message }) => message),
        origins: sent.map(({ origin }) => origin),
        opening: undefined,
      },
    ],
    notes: tally.notes(),
  };
}

/** The messages from the first to the current one; the flat list where there is no such chain. */
function branchOf(chat: JsonObject, tally: Tally): readonly Placed[] {
  const { history } = chat;
  const chain = isHistory(history) ? chainOf(history) : [];
  if (chain.length > 0 && isHistory(history) && isObject(history['messages'])) {
    const others = Object.keys(history['messages']).length - chain.length;
    for (let count = 0; count < others; count++) tally.add('{n} message{s} of other branches left out');
    return chain;
  }
  return asList(chat['messages']).flatMap((message, index) =>
    isObject(message) ? [{ message, path: `messages.${index}` }] : [],
  );
}

function chainOf(history: JsonObject): readonly Placed[] {
  const messages: JsonObject = isObject(history['messages']) ? history['messages'] : {};
  const chain: Placed[] = [];
  const seen = new Set<string>();
  let id = asString(history['currentId']);
  while (id !== undefined && !seen.has(id)) {
    const message = Object.hasOwn(messages, id) ? messages[id] : undefined;
    if (!isObject(message)) break;
    seen.add(id);
    chain.push({ message, path: `history.messages.${id}` });
    id = asString(message['parentId']);
  }
  return chain.reverse();
}

function systemPrompt(chat: JsonObject, place: Place): readonly Sent[] {
  const { params } = chat;
  const content =
    (isObject(params) ? asString(params['system']) : undefined) ?? asString(chat['system']) ?? '';
  if (content.trim() === '') return [];
  return [{ message: { role: 'system', content }, origin: originAt(place) }];
}

function readMessage({ message }: Placed, place: Place, tally: Tally): readonly Sent[] {
  const { role } = message;
  const messages = role === 'assistant' ? unfoldAssistant(message, tally) : readOther(message, tally);
  if (messages.length === 0) tally.add('{n} message{s} without content left out');
  const timestamp = timestampOf(message['timestamp'], 'seconds');
  const usage = readUsage(message['usage'] ?? message['info']);
  return messages.map((wire, index) => ({
    message: wire,
    // What was reported counts the whole exchange, up to its last response.
    origin: { ...originAt(place, timestamp), usage: index === messages.length - 1 ? usage : undefined },
  }));
}

function readOther(message: JsonObject, tally: Tally): readonly JsonObject[] {
  const { role, content, tool_call_id: callId } = message;
  if (typeof role !== 'string') return [];
  const images = asList(message['files']).flatMap((file) => readFile(file, tally));
  if (images.length === 0) {
    if (content === undefined || content === null || content === '') return [];
    return [{ role, content, ...(callId === undefined ? {} : { tool_call_id: callId }) }];
  }
  const text = typeof content === 'string' ? content : '';
  return [{ role, content: [...(text.trim() === '' ? [] : [{ type: 'text', text }]), ...images] }];
}

function readFile(file: unknown, tally: Tally): readonly JsonObject[] {
  const { type, url }: JsonObject = isObject(file) ? file : {};
  const isSendable = typeof url === 'string' && /^(?:data:|https?:\/\/)/.test(url);
  if (type === 'image' && isSendable) return [{ type: 'image_url', image_url: { url } }];
  tally.add('{n} attached file{s} whose content is not in the export left out');
  return [];
}

/** What the servers behind Open WebUI call prompt and output: OpenAI, the Responses API, Ollama. */
const USAGE_FIELDS = [
  ['prompt_tokens', 'completion_tokens'],
  ['input_tokens', 'output_tokens'],
  ['prompt_eval_count', 'eval_count'],
] as const;

function readUsage(counts: unknown): Usage | undefined {
  const usages = USAGE_FIELDS.map(([prompt, output]) => usageOf(counts, [prompt], [output]));
  return usages.find((usage) => usage !== undefined && usage.promptTokens > 0);
}
