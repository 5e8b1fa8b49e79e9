/** Cuts recorded sessions in two: a prefix to compact, and the future that really followed. */

import { legalCuts } from '../conversation/cuts.ts';
import { type Conversation, withMessages } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { groupRounds } from '../conversation/rounds.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import type { Recording } from '../transcripts/recordings.ts';

/** A place in a recorded session where it might have been compacted: what stood before it, and what really came after. */
export interface Cut {
  readonly session: string;
  /** Which conversation of the session: `main`, `side chain 2`. */
  readonly title: string;
  /** Number of the stretch between two compactions of the harness, from 0. */
  readonly stretch: number;
  readonly prefix: Conversation;
  /** Tokens of all messages of the prefix. */
  readonly prefixTokens: number;
  /** Those of its system messages, which stay whatever happens. Budgets and shares are of the rest. */
  readonly instructionTokens: number;
  /** The rest of the stretch and all later ones, without what the harness's compactions put there. */
  readonly future: readonly Message[];
  /** Share of the stretch's tokens that stands before the cut. */
  readonly share: number;
  /** The harness's own summary at the head of the prefix, which is no word of the user's. */
  readonly openingSummary: string | undefined;
}

/** A cut at which the harness did compact, and what it put in the place of the prefix. */
export interface RecordedCut extends Cut {
  readonly harness: string;
  readonly recorded: readonly Message[];
  readonly recordedTokens: number;
}

export interface CutOptions {
  /** What the session is called in results. Default: the title of the transcript. */
  readonly session?: string | undefined;
  /** Cuts of each stretch between two compactions. Default 5. */
  readonly cuts?: number | undefined;
  /** A shorter prefix needs no compaction and is left out. Default 6,000. */
  readonly minimumTokens?: number | undefined;
  readonly estimator?: TokenEstimator | undefined;
}

const FIRST_SHARE = 0.3;
/** Share of a stretch's tokens that stands before its last cut, at most. */
export const LAST_SHARE = 0.7;
/** Tokens that stand before a cut at least. */
export const MINIMUM_TOKENS = 6000;

/** What lies between two compactions by the harness, and all that came after it. */
interface Trajectory {
  readonly stretch: number;
  readonly conversation: Conversation;
  readonly later: readonly Message[];
  readonly openingSummary: string | undefined;
}

/**
 * Cuts at 30 to 70 % of the tokens of every stretch, evenly, each where the next request would have been sent. None for
 * a stretch that is too short.
 */
export function cutsOf(recording: Recording, options: CutOptions = {}): readonly Cut[] {
  const estimator = options.estimator ?? createTokenEstimator();
  return trajectoriesOf(recording).flatMap((trajectory) =>
    cutStretch(trajectory, recording, options, estimator),
  );
}

/** The places where the harness itself compacted and left a summary that can be read. */
export function recordedCutsOf(recording: Recording, options: CutOptions = {}): readonly RecordedCut[] {
  const estimator = options.estimator ?? createTokenEstimator();
  const { minimumTokens = MINIMUM_TOKENS, session = recording.transcript.title } = options;
  return trajectoriesOf(recording).flatMap(({ stretch, conversation, later, openingSummary }) => {
    const opening = recording.transcript.segments[stretch + 1]?.opening;
    const next = recording.conversations[stretch + 1];
    const prefixTokens = estimator.countMessages(conversation.messages);
    if (opening?.summary === undefined || next === undefined || prefixTokens < minimumTokens) return [];
    const recorded = next.messages.slice(0, opening.carried);
    return {
      session,
      title: recording.transcript.title,
      stretch,
      prefix: conversation,
      prefixTokens,
      instructionTokens: instructionTokensOf(conversation.messages, estimator),
      future: later,
      share: 1,
      openingSummary,
      harness: recording.transcript.reader,
      recorded,
      recordedTokens: estimator.countMessages(recorded),
    };
  });
}

/** How many tokens of messages may be left for a share of what can be made smaller. */
export function budgetFor({ prefixTokens, instructionTokens }: Cut, share: number): number {
  return instructionTokens + share * (prefixTokens - instructionTokens);
}

function instructionTokensOf(messages: readonly Message[], estimator: TokenEstimator): number {
  let tokens = 0;
  for (const message of messages) if (message.role === 'system') tokens += estimator.countMessage(message);
  return tokens;
}

function trajectoriesOf({ transcript, conversations }: Recording): readonly Trajectory[] {
  return conversations.map((conversation, stretch) => {
    const later = conversations
      .slice(stretch + 1)
      .flatMap(({ messages }, offset) =>
        messages.slice(transcript.segments[stretch + 1 + offset]?.opening?.carried ?? 0),
      );
    const openingSummary = transcript.segments[stretch]?.opening?.summary;
    return { stretch, conversation, later, openingSummary };
  });
}

function cutStretch(
  { stretch, conversation, later, openingSummary }: Trajectory,
  { transcript }: Recording,
  { session = transcript.title, cuts = 5, minimumTokens = MINIMUM_TOKENS }: CutOptions,
  estimator: TokenEstimator,
): readonly Cut[] {
  const { messages } = conversation;
  const total = estimator.countMessages(messages);
  const places = requestPlaces(messages, estimator.countMessage);
  return chooseEvenly(places, total, cuts)
    .map(({ index, tokens }) => ({
      instructionTokens: instructionTokensOf(messages.slice(0, index), estimator),
      session,
      title: transcript.title,
      stretch,
      prefix: withMessages(conversation, messages.slice(0, index)),
      prefixTokens: tokens,
      future: [...messages.slice(index), ...later],
      share: tokens / total,
      openingSummary,
    }))
    .filter(({ prefixTokens, instructionTokens }) => prefixTokens - instructionTokens >= minimumTokens);
}

/** A place in front of a response. */
export interface RequestPlace {
  readonly index: number;
  /** Tokens of the messages before it. */
  readonly tokens: number;
}

/** Where requests were sent: in front of every response, if the list may be cut there. */
export function requestPlaces(
  messages: readonly Message[],
  countMessage: (message: Message) => number,
): readonly RequestPlace[] {
  const legal = new Set(legalCuts(messages));
  const places: RequestPlace[] = [];
  let tokens = 0;
  let index = 0;
  for (const { kind, start } of groupRounds(messages)) {
    for (; index < start; index++) {
      const message = messages[index];
      if (message !== undefined) tokens += countMessage(message);
    }
    if (kind === 'response' && start > 0 && legal.has(start)) places.push({ index: start, tokens });
  }
  return places;
}

/** For each share the nearest place that is still free, within the bounds. */
function chooseEvenly(places: readonly RequestPlace[], total: number, cuts: number): readonly RequestPlace[] {
  const free = new Set(
    places.filter(({ tokens }) => tokens >= FIRST_SHARE * total && tokens <= LAST_SHARE * total),
  );
  const chosen: RequestPlace[] = [];
  for (let number = 0; number < cuts && free.size > 0; number++) {
    const step = cuts === 1 ? 0.5 : number / (cuts - 1);
    const wanted = (FIRST_SHARE + (LAST_SHARE - FIRST_SHARE) * step) * total;
    let best: RequestPlace | undefined;
    for (const place of free) {
      if (best === undefined || Math.abs(place.tokens - wanted) < Math.abs(best.tokens - wanted))
        best = place;
    }
    if (best === undefined) break;
    free.delete(best);
    chosen.push(best);
  }
  return chosen.toSorted((left, right) => left.index - right.index);
}
