import type { Place } from '../../conversation/errors.ts';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { originAt, placeInside } from '../records.ts';
import type { Origin, Reject, Segment, Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';
import {
  type FoundRequest,
  findRequest,
  isLooseMessage,
  isMessage,
  type ResponseTurn,
  readResponse,
} from './exchanges.ts';

/** Names the wire format of a request body or a bare list of messages; undefined when there is none. */
export type RecogniseFormat = (value: unknown) => string | undefined;

const READER_NAME = 'json';

const EXPECTED =
  'expected a request body, a list of messages, a message, or a log record that holds a request';

/**
 * Plain JSON and JSONL, the reader of last resort: request bodies, bare messages, request logs and responses. Each
 * request is a conversation and is given at once, so that logs of any size can be read; messages that stand in the
 * file one by one are one conversation. The response of a logged request is its last message.
 */
export function createJsonReader(recogniseFormat: RecogniseFormat): TranscriptReader {
  return {
    name: READER_NAME,
    product: undefined,
    summary: 'request bodies, message lists and request logs (JSON or JSONL)',
    location: undefined,
    recognise: () => true,
    open: (reject) => openFile(recogniseFormat, reject),
  };
}

/** A message that stands in the file by itself. */
interface Loose {
  readonly message: unknown;
  readonly origin: Origin;
  /** The array it is an element of; undefined for one of its own line. */
  readonly array: number | undefined;
}

function openFile(recogniseFormat: RecogniseFormat, reject: Reject): TranscriptFold {
  let loose: Loose[] = [];
  let count = 0;
  const flush = function* (): Generator<Transcript> {
    const body = loose.map(({ message }) => message);
    const origins = loose.map(({ origin }) => origin);
    const [first] = origins;
    loose = [];
    if (first === undefined) return;
    const format = recogniseFormat(body);
    if (format === undefined) reject(first.place, 'messages of no wire format we know');
    else
      yield { ...toTranscript(format, { body, origins, opening: undefined }), title: titleOf({}, ++count) };
  };
  return {
    *add({ value, place, kind, document }: JsonEntry) {
      if (isLooseMessage(value) && readResponse(value) === undefined) {
        const array = kind === 'element' ? document : undefined;
        if (loose.at(-1)?.array !== array) yield* flush();
        loose.push({ message: value, origin: originOf(value, place), array });
        return;
      }
      const transcript = readConversation(value, place, recogniseFormat);
      if (transcript === undefined) {
        reject(place, EXPECTED);
        return;
      }
      yield* flush();
      yield { ...transcript, title: titleOf(isObject(value) ? value : {}, ++count) };
    },
    end: flush,
  };
}

type Untitled = Omit<Transcript, 'title'>;

function readConversation(
  value: unknown,
  place: Place,
  recogniseFormat: RecogniseFormat,
): Untitled | undefined {
  if (Array.isArray(value)) {
    const format = value.length > 0 && value.every(isMessage) ? recogniseFormat(value) : undefined;
    return format === undefined ? undefined : toTranscript(format, toSegment(value, value, place, ''));
  }
  if (!isObject(value)) return undefined;
  const request = findRequest(value);
  if (request !== undefined) return readExchange(request, place, recogniseFormat);
  const response = readResponse(value);
  if (response === undefined) return undefined;
  const origins = responseOrigins(response, place);
  return {
    ...toTranscript(response.format, { body: response.messages, origins, opening: undefined }),
    model: response.model,
  };
}

function readExchange(
  found: FoundRequest,
  place: Place,
  recogniseFormat: RecogniseFormat,
): Untitled | undefined {
  const { body, list, path, response } = found;
  const format = formatOf(found, recogniseFormat);
  if (format === undefined) return undefined;
  const model = (isObject(body) ? asString(body['model']) : undefined) ?? response?.model;
  const request = toSegment(body, list, place, `${path}.`);
  if (response === undefined || response.format !== format) {
    const notes =
      response === undefined ? [] : ['the response is in another format than the request: left out'];
    if (found.hasOddResponse) notes.push('the response is none we know: left out');
    return { ...toTranscript(format, request), model, notes };
  }
  const segment: Segment = {
    body: withResponse(found, response.messages, model),
    origins: [...request.origins, ...responseOrigins(response, place)],
    opening: undefined,
  };
  return { ...toTranscript(format, segment), model };
}

/** Plain text fits two formats; then the response tells which of them the request was written in. */
function formatOf(
  { body, list, response }: FoundRequest,
  recogniseFormat: RecogniseFormat,
): string | undefined {
  const format = recogniseFormat(body);
  const isAnswered = format === 'openai-chat' && response?.format === 'anthropic-messages';
  return isAnswered && !list.some(isChatOnly) ? response.format : format;
}

const CHAT_ROLES = new Set<unknown>(['system', 'developer', 'tool', 'function']);

function isChatOnly(message: unknown): boolean {
  return isObject(message) && (CHAT_ROLES.has(message['role']) || message['tool_calls'] !== undefined);
}

function withResponse(
  { body, list, key }: FoundRequest,
  messages: readonly unknown[],
  model: string | undefined,
): unknown {
  const all = [...list, ...messages];
  if (key === undefined || !isObject(body)) return all;
  // Gemini names its model in the address, never in the body.
  const isModelInBody = key !== 'contents' && model !== undefined;
  return { ...(isModelInBody ? { model } : {}), ...body, [key]: all };
}

function toTranscript(format: string, segment: Segment): Untitled {
  const body: JsonObject = isObject(segment.body) ? segment.body : {};
  return {
    reader: READER_NAME,
    format,
    kind: 'main',
    model: asString(body['model']),
    segments: [segment],
    notes: [],
  };
}

function toSegment(body: unknown, list: readonly unknown[], place: Place, prefix: string): Segment {
  const origins = list.map((message, index) => originOf(message, placeInside(place, `${prefix}${index}`)));
  return { body, origins, opening: undefined };
}

function originOf(message: unknown, place: Place): Origin {
  return originAt(place, isObject(message) ? asString(message['timestamp']) : undefined);
}

/** A response may be several items; what it cost is told once. */
function responseOrigins({ messages, id, usage }: ResponseTurn, place: Place): readonly Origin[] {
  return messages.map((_, index) => ({
    place,
    timestamp: undefined,
    responseId: id,
    usage: index === messages.length - 1 ? usage : undefined,
  }));
}

/** What tells a conversation from the others of its file: the record's own name for it, else its number. */
function titleOf(record: JsonObject, count: number): string {
  const { task_id: task, trial, custom_id: customId } = record;
  if (isName(task)) return isName(trial) ? `task ${task}, trial ${trial}` : `task ${task}`;
  return isName(customId) ? `request ${customId}` : `conversation ${count}`;
}

function isName(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
