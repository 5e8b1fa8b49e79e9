import { isUserText, type Message } from './message.ts';
import { lastAnswers } from './tool-links.ts';

/** One assistant response, its tool results and what follows until the next response; round 0 is the preamble. */
export interface Round {
  readonly index: number;
  readonly kind: 'preamble' | 'response';
  /** Id of the response, where messages carry one. */
  readonly responseId: string | undefined;
  /** Index of the first message. */
  readonly start: number;
  /** Index after the last message. */
  readonly end: number;
}

export interface GroupOptions {
  /**
   * Where user text goes that stands between two rounds. `previous` (default) is the literal rule: only a response
   * opens a round, so the question ends the round before it. `next` puts the question in front of its answer, which
   * is what a kept tail wants. Rounds keep their index and number in both views; the preamble stays by itself.
   */
  readonly userTextJoins?: 'previous' | 'next';
}

/**
 * Groups messages into rounds: contiguous, in order, nothing left out. Never throws, whatever the list.
 *
 * A message of a response that differs from the last one opens a round. Where messages carry no response id, an
 * assistant message opens a round unless it directly follows another one or an earlier call still waits for a
 * result that comes later.
 */
export function groupRounds(messages: readonly Message[], options: GroupOptions = {}): readonly Round[] {
  const openings = findOpenings(messages);
  if (options.userTextJoins === 'next') moveBeforeUserText(messages, openings);
  return openings.map(({ kind, responseId, start }, index) => {
    const end = openings[index + 1]?.start ?? messages.length;
    return { index, kind, responseId, start, end };
  });
}

interface Opening {
  readonly kind: Round['kind'];
  readonly responseId: string | undefined;
  start: number;
}

function findOpenings(messages: readonly Message[]): Opening[] {
  const openings: Opening[] = [];
  const answeredBy = lastAnswers(messages);
  let lastResponseId: string | undefined;
  let waitsUntil = -1;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message?.role === 'assistant') {
      const { responseId } = message;
      const follows = messages[index - 1]?.role === 'assistant';
      const differs =
        responseId === undefined ? !follows && waitsUntil < index : responseId !== lastResponseId;
      if (differs || index === 0) openings.push({ kind: 'response', responseId, start: index });
      lastResponseId = responseId;
    } else if (index === 0) {
      openings.push({ kind: 'preamble', responseId: undefined, start: 0 });
    }
    waitsUntil = Math.max(waitsUntil, answeredBy[index] ?? -1);
  }
  return openings;
}

function moveBeforeUserText(messages: readonly Message[], openings: Opening[]): void {
  for (let index = 1; index < openings.length; index++) {
    const before = openings[index - 1];
    const opening = openings[index];
    // The preamble is pinned by itself: its text stays there even though an answer follows.
    if (opening === undefined || before === undefined || before.kind === 'preamble') continue;
    while (opening.start > before.start + 1 && joinsNext(messages[opening.start - 1])) opening.start--;
  }
}

function joinsNext(message: Message | undefined): boolean {
  return message !== undefined && (message.role === 'system' || isUserText(message));
}

/** `round 3 (msg_01A, messages 7–9, 1,204 tokens)`: a name for logs and diagnostics. */
export function nameRound(round: Round, tokens?: number): string {
  const last = round.end - 1;
  const details = [
    round.kind === 'preamble' ? 'preamble' : round.responseId,
    last > round.start ? `messages ${round.start}–${last}` : `message ${round.start}`,
    tokens === undefined ? undefined : `${Math.round(tokens).toLocaleString('en-US')} tokens`,
  ];
  return `round ${round.index} (${details.filter((detail) => detail !== undefined).join(', ')})`;
}

/** The round with the most of what `sizeOf` measures (the earliest of equals); undefined for an empty list. */
export function largestRound(rounds: readonly Round[], sizeOf: (round: Round) => number): Round | undefined {
  let largest: { round: Round; size: number } | undefined;
  for (const round of rounds) {
    const size = sizeOf(round);
    if (largest === undefined || size > largest.size) largest = { round, size };
  }
  return largest?.round;
}
