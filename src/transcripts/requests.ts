import type { Message } from '../conversation/message.ts';
import { groupRounds, type Round } from '../conversation/rounds.ts';
import type { RecordedCharge } from './charges.ts';
import type { Recording } from './recordings.ts';

/** A request whose messages and whose counts are both in the file. */
export interface RecordedRequest {
  /** Index of the segment that it belongs to. */
  readonly segment: number;
  /** Index of the first message of its response: what stands before it was sent. */
  readonly start: number;
  /** Index behind the last message of its response. */
  readonly end: number;
  /** When it was sent: the time of the last message before the response. */
  readonly sentAt: string | undefined;
  readonly charge: RecordedCharge;
}

/** What the charges of a file belong to. */
export interface RequestsOfFile {
  /** The requests of each recording, oldest first. */
  readonly requests: ReadonlyMap<Recording, readonly RecordedRequest[]>;
  /** Charges whose messages the file does not show: abandoned branches, sub-agents elsewhere, summaries. */
  readonly elsewhere: readonly RecordedCharge[];
}

/** All tokens of the prompt. */
export function promptTokensOf(charge: RecordedCharge): number {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens } = charge;
  return inputTokens + cacheReadTokens + cacheWriteTokens + cacheWriteHourTokens;
}

/** Gives every response of a file's recordings the charge with the same counts, each charge once and in order. */
export function requestsOf(recordings: readonly Recording[]): RequestsOfFile {
  const charges = recordings.flatMap(({ transcript }) => transcript.charges ?? []);
  const waiting = Map.groupBy(charges, (charge) => keyOf(promptTokensOf(charge), charge.outputTokens));
  const requests = new Map<Recording, readonly RecordedRequest[]>();
  for (const recording of recordings) {
    const found: RecordedRequest[] = [];
    for (const response of responsesOf(recording)) {
      const { promptTokens, outputTokens } = response.usage;
      const charge = waiting.get(keyOf(promptTokens, outputTokens))?.shift();
      if (charge === undefined) continue;
      const { segment, start, end } = response;
      const sentAt = recording.transcript.segments[segment]?.origins[start - 1]?.timestamp;
      found.push({ segment, start, end, sentAt, charge });
    }
    requests.set(recording, found);
  }
  return { requests, elsewhere: [...waiting.values()].flat() };
}

function keyOf(promptTokens: number, outputTokens: number): string {
  return `${promptTokens} ${outputTokens}`;
}

interface Response {
  readonly segment: number;
  readonly start: number;
  readonly end: number;
  readonly usage: NonNullable<Message['usage']>;
}

function* responsesOf({ conversations }: Recording): Iterable<Response> {
  for (const [segment, { messages }] of conversations.entries()) {
    for (const round of groupRounds(messages)) {
      if (round.kind === 'response') yield* responsesIn(messages, round, segment);
    }
  }
}

/** What was counted for each response of a round. Without ids, a round may hold several: each begins behind what it was sent. */
function* responsesIn(messages: readonly Message[], round: Round, segment: number): Iterable<Response> {
  let { start } = round;
  for (let index = round.start; index < round.end; index++) {
    const message = messages[index];
    if (message?.role !== 'assistant') continue;
    const isContinued = index === round.start || messages[index - 1]?.role === 'assistant';
    if (!isContinued && message.responseId === undefined) start = index;
    const { usage } = message;
    if (usage === undefined || usage.promptTokens === 0 || messages[index + 1]?.usage === usage) continue;
    yield { segment, start, end: index + 1, usage };
  }
}
