import { asList, isObject } from '../conversation/json.ts';
import { type Overflow, parseOverflow } from '../formats/overflow/detect.ts';
import { type AnswerEvent, readAnswerEvents, tryParseJson } from '../providers/event-stream.ts';
import type { Answer } from './answer.ts';
import { headerOf } from './headers.ts';

/** Statuses with which providers say that a request is too long. */
const OVERFLOW_STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 429]);

/**
 * What an answer says about size, where a shorter request would help; undefined for every other answer. A stream is looked
 * at only as far as it has told nothing but that it begins, and only where that is worth the wait.
 */
export async function overflowOf(answer: Answer, mayWaitForEvents: boolean): Promise<Overflow | undefined> {
  const { status, headers } = answer;
  const isEvents = headerOf(headers, 'content-type')?.toLowerCase().includes('text/event-stream') === true;
  if (status === 200 && isEvents && mayWaitForEvents) return curable(await failedEvent(answer), status);
  if (!OVERFLOW_STATUSES.has(status)) return undefined;
  const text = await answer.peek();
  return text === undefined ? undefined : curable(tryParseJson(text) ?? text, status);
}

function curable(error: unknown, status: number): Overflow | undefined {
  const overflow = error === undefined ? undefined : parseOverflow(error, { status });
  return overflow === undefined || overflow.kind === 'media-limit' ? undefined : overflow;
}

/** Events with which streams begin before anything is said. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  'message_start',
  'ping',
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/** The first event that says something, if it is a failure. */
async function failedEvent(answer: Answer): Promise<unknown> {
  const text = await answer.peekEvents((begun) => firstWord(begun) !== undefined);
  const event = text === undefined ? undefined : firstWord(text);
  if (event === undefined) return undefined;
  const { type, data } = event;
  return type === 'error' || type === 'response.failed' || isObject(data['error']) ? data : undefined;
}

function firstWord(text: string): AnswerEvent | undefined {
  // What has not come to its end yet cannot be read.
  const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'));
  if (end === -1) return undefined;
  return readAnswerEvents(text.slice(0, end))?.find((event) => !isBeginning(event));
}

/** Nothing is said yet. Chat Completions begin with a chunk that only tells who speaks. */
function isBeginning({ type, data }: AnswerEvent): boolean {
  if (BEGINNINGS.has(type)) return true;
  const choices = asList(data['choices']).filter(isObject);
  return (
    choices.length > 0 && choices.every((choice) => isSilent(choice['delta']) && !choice['finish_reason'])
  );
}

function isSilent(delta: unknown): boolean {
  return (
    isObject(delta) &&
    Object.entries(delta).every(([key, value]) => key === 'role' || value === null || value === '')
  );
}
