import { writeSummaryOf } from '../../compaction/strategies/summary.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { Conversation } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { sha256 } from '../../conversation/sha256.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { readConversation } from '../../formats/registry.ts';
import { readCovered } from '../../memory/covered.ts';
import { MARKER_SOURCE } from '../../memory/markers.ts';
import { memory } from '../../memory/summarizer.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import { parseBody } from '../body/parsed-body.ts';
import { type OwnAnswer, type Refused, RefusedError } from '../errors.ts';
import type { Route } from '../routes.ts';
import { hasText, ownCompaction, withMemories } from './own-items.ts';

/** A request that may ask for a compaction. */
export interface CompactionRequest {
  readonly route: Route;
  /** The JSON text of its body. */
  readonly text: Uint8Array;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A memory may have so many tokens, and this share of what it stands for. */
const MOST_MEMORY_TOKENS = 12_000;
const MEMORY_SHARE = 0.25;
const LEAST_MEMORY_TOKENS = 500;
const FORMAT = 'openai-responses';
const TRIGGER = 'compaction_trigger';

/**
 * Answers `/responses/compact` and requests that end with a compaction trigger, in place of a provider that knows neither:
 * with the user's messages and one compaction item, which holds our memory of everything. No model is asked.
 * @returns undefined for every other request
 * @throws RefusedError 400 for a request that cannot be answered from what it holds
 */
export async function answerCompaction({
  route,
  text,
  signal,
  now,
}: CompactionRequest): Promise<OwnAnswer | undefined> {
  const isEndpoint = route.kind === 'compact';
  if (!isEndpoint && (route.kind !== 'generate' || route.format !== FORMAT || !hasText(text, TRIGGER)))
    return undefined;
  const body = parseBody(text, 'input', undefined)?.value;
  const input = asList(body?.['input']);
  const isTriggered = isTrigger(input.at(-1));
  if (body === undefined || (!isEndpoint && !isTriggered)) return undefined;
  const elsewhere = ['previous_response_id', 'conversation'].find((key) => (body[key] ?? null) !== null);
  if (elsewhere !== undefined) throw new RefusedError(historyElsewhere(elsewhere));
  const items = withMemories(isTriggered ? input.slice(0, -1) : input);
  const told = await remember({ ...body, input: items }, signal);
  const id = sha256(told).slice(0, ID_CHARACTERS);
  const item = ownCompaction(`cmp_${id}`, told);
  const createdAt = Math.floor(now() / 1000);
  if (isEndpoint) {
    const output = [...messagesThatStay(items), item];
    return json({ id: `resp_${id}`, object: 'response.compaction', created_at: createdAt, output, usage });
  }
  const response = responseTo(body, { id: `resp_${id}`, created_at: createdAt, output: [item] });
  return body['stream'] === true ? stream(response) : json(response);
}

const ID_CHARACTERS = 48;
/** Nothing was asked of a model. */
const usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
} as const;

function historyElsewhere(field: string): Refused {
  const message = `${field}: the history is with the provider; send all of it as input to be compacted`;
  return { status: 400, reason: 'cannot-compact', message };
}

const NOTHING_TO_COMPACT: Refused = {
  status: 400,
  reason: 'cannot-compact',
  message: 'input: there is nothing to compact',
};

function isTrigger(item: unknown): boolean {
  return isObject(item) && item['type'] === TRIGGER;
}

/** The text of a message that speaks for all of a request. */
async function remember(body: JsonObject, signal: AbortSignal): Promise<string> {
  const conversation = readRequest(body);
  const { frame } = conversation;
  // Instructions stay, or the client writes them anew.
  const messages = conversation.messages.filter(({ role }) => role !== 'system');
  if (messages.length === 0) throw new RefusedError(NOTHING_TO_COMPACT);
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(frame.model) });
  const covered = readCovered(messages, [{ start: 0, end: messages.length }]);
  const share = Math.floor(requestTokens(conversation, estimator) * MEMORY_SHARE);
  const written = await writeSummaryOf(memory, covered, {
    messages: covered.messages,
    previousSummary: covered.previousSummary,
    ...{ conversation, estimator, signal },
    instructions: undefined,
    maximumTokens: Math.max(LEAST_MEMORY_TOKENS, Math.min(MOST_MEMORY_TOKENS, share)),
    pause: () => new Promise((resolve) => setTimeout(resolve)),
  });
  if (written.status === 'failed') throw new RefusedError(NOTHING_TO_COMPACT);
  return summaryMessageText(written.text, { coveredUntil: messages.length, source: MARKER_SOURCE });
}

function readRequest(body: JsonObject): Conversation {
  try {
    return readConversation<JsonObject>(body, FORMAT);
  } catch (error) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the second argument
    if (RoundfoldError.is(error)) throw new RefusedError(NOTHING_TO_COMPACT, error);
    throw error;
  }
}

const STAYING_ROLES: ReadonlySet<unknown> = new Set(['user', 'developer', 'system']);

/** What the user said and what the model was told, as output items. */
function messagesThatStay(items: readonly unknown[]): readonly JsonObject[] {
  return items.filter(isObject).flatMap((item) => {
    const { type = 'message', role, content } = item;
    if (type !== 'message' || !STAYING_ROLES.has(role)) return [];
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
    const id = asString(item['id']) ?? `msg_${sha256(JSON.stringify(item)).slice(0, ID_CHARACTERS)}`;
    return [{ ...item, type, id, status: 'completed', content: parts }];
  });
}

/** A response as clients read it, with the settings of its request. */
function responseTo(body: JsonObject, made: JsonObject): JsonObject {
  return {
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    metadata: body['metadata'] ?? {},
    model: body['model'] ?? '',
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    store: body['store'] ?? true,
    usage,
    ...made,
  };
}

function json(value: JsonObject): OwnAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function stream(response: JsonObject): OwnAnswer {
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const [item] = asList(response['output']);
  const events: readonly (readonly [string, JsonObject])[] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ['response.output_item.added', { output_index: 0, item }],
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response }],
  ];
  const body = events.map(
    ([type, fields], index) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: index, ...fields })}\n\n`,
  );
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  return { status: 200, headers, body: body.join('') };
}
