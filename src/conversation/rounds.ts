import { isUserText, type Message, type Role } from './message.ts';
import { rememberFold } from './prefix-memory.ts';
import { ToolLinker } from './tool-links.ts';

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
  const openings = foldOpenings(messages).openings.filter(({ isJoined }) => !isJoined);
  const starts = openings.map(({ start }) => start);
  if (options.userTextJoins === 'next') moveBeforeUserText(messages, openings, starts);
  return openings.map(({ kind, responseId, start }, index) => {
    const end = starts[index + 1] ?? messages.length;
    return { index, kind, responseId, start: starts[index] ?? start, end };
  });
}

/** Index of the first message of the newest `count` rounds; the length of the list for none, 0 for more than there are. */
export function newestRoundsStart(messages: readonly Message[], count: number): number {
  const { openings } = foldOpenings(messages);
  let start = messages.length;
  let left = count;
  for (let index = openings.length - 1; index >= 0 && left > 0; index--) {
    const opening = openings[index];
    if (opening === undefined || opening.isJoined) continue;
    start = opening.start;
    left--;
  }
  return left > 0 ? 0 : start;
}

/** Where a round begins, or seemed to until the round before turned out to go on. */
interface Opening {
  readonly kind: Round['kind'];
  readonly responseId: string | undefined;
  readonly start: number;
  isJoined: boolean;
}

interface Grouping {
  readonly openings: Opening[];
  /** Those without an id to prove them, oldest first. */
  readonly unproven: Opening[];
  readonly linker: ToolLinker;
  lastResponseId: string | undefined;
  lastRole: Role | undefined;
}

/** The openings of a list. A longer list of the same conversation goes on where the last one ended. */
const foldOpenings = rememberFold<Message, Grouping>({
  start() {
    const openings: Opening[] = [];
    const unproven: Opening[] = [];
    const linker = new ToolLinker({ pair: (call) => joinBehind(unproven, call.message) });
    return { openings, unproven, linker, lastResponseId: undefined, lastRole: undefined };
  },

  add(grouping, message, index) {
    const { role, responseId } = message;
    if (role === 'assistant') {
      const isNew =
        responseId === undefined ? grouping.lastRole !== 'assistant' : responseId !== grouping.lastResponseId;
      if (isNew || index === 0)
        open(grouping, { kind: 'response', responseId, start: index, isJoined: false });
      grouping.lastResponseId = responseId;
    } else if (index === 0) {
      open(grouping, { kind: 'preamble', responseId: undefined, start: 0, isJoined: false });
    }
    grouping.lastRole = role;
    grouping.linker.add(message, index);
  },
});

function open({ openings, unproven }: Grouping, opening: Opening): void {
  openings.push(opening);
  if (opening.responseId === undefined) unproven.push(opening);
}

/** A call was answered: what seemed to open rounds since, without an id to prove it, belongs to the call's round. */
function joinBehind(unproven: Opening[], call: number): void {
  for (let last = unproven.at(-1); last !== undefined && last.start > call; last = unproven.at(-1)) {
    last.isJoined = true;
    unproven.pop();
  }
}

function moveBeforeUserText(
  messages: readonly Message[],
  openings: readonly Opening[],
  starts: number[],
): void {
  for (let index = 1; index < starts.length; index++) {
    const earliest = (starts[index - 1] ?? 0) + 1;
    let start = starts[index] ?? messages.length;
    // The preamble is pinned by itself: its text stays there even though an answer follows.
    if (openings[index - 1]?.kind === 'preamble') continue;
    while (start > earliest && joinsNext(messages[start - 1])) start--;
    starts[index] = start;
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
