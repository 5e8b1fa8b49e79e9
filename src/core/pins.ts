import { legalCuts } from './legality.ts';
import { type Message, textOf } from './message.ts';
import { rememberFold } from './prefix-memory.ts';
import { readSummaryMessage } from './summary-message.ts';
import { surveyOf } from './survey.ts';

/** What has to survive verbatim, besides what always does. */
export interface PinOptions {
  /** Messages in which one of these is found stay, with the round they belong to. */
  readonly patterns?: readonly RegExp[] | undefined;
}

/** A stretch of messages that can only stay or go as a whole. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly isPinned: boolean;
}

/**
 * The list as stretches between legal cuts, in order. Pinned are those with the user's first text, the first one with
 * words of the user's own where a harness has put something in front, the last one, a system message, or a match of a
 * pattern. A summary is no text of the user's. A text that is not short enough for whoever asks is pinned by a pattern alone.
 */
export function spansOf(
  messages: readonly Message[],
  pins: PinOptions = {},
  isShortEnough: (asked: Message) => boolean = () => true,
): readonly Span[] {
  const pinned = pinnedMessages(messages, pins, isShortEnough);
  const cuts = legalCuts(messages);
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index] ?? 0;
    let isPinned = false;
    for (let message = start; message < end; message++) isPinned ||= pinned.has(message);
    return { start, end, isPinned };
  });
}

/** The messages that are pinned for their own sake: their bytes may not change. */
export function pinnedMessages(
  messages: readonly Message[],
  { patterns = [] }: PinOptions = {},
  isShortEnough: (asked: Message) => boolean = () => true,
): ReadonlySet<number> {
  const { firstAsked, firstOwnWords, lastAsked, systemMessages } = surveyOf(messages);
  const pinned = new Set(systemMessages);
  for (const index of [firstAsked, firstOwnWords, lastAsked]) {
    const asked = index === undefined ? undefined : messages[index];
    if (index !== undefined && asked !== undefined && isShortEnough(asked)) pinned.add(index);
  }
  if (patterns.length > 0) for (const index of foldMatchesFor(patterns)(messages)) pinned.add(index);
  return pinned;
}

type FoldMatches = (messages: readonly Message[]) => readonly number[];

const foldsByPatterns = new WeakMap<readonly RegExp[], FoldMatches>();

/** One memory for each set of patterns, so that a turn looks only at what is new. */
function foldMatchesFor(patterns: readonly RegExp[]): FoldMatches {
  const known = foldsByPatterns.get(patterns);
  if (known !== undefined) return known;
  const fold = rememberFold<Message, number[]>({
    start: () => [],
    add(matched, message, index) {
      // A summary that quotes what is looked for would stay for ever, and the next one would come on top of it.
      if (matches(message, patterns) && readSummaryMessage(message) === undefined) matched.push(index);
    },
  });
  foldsByPatterns.set(patterns, fold);
  return fold;
}

function matches({ blocks }: Message, patterns: readonly RegExp[]): boolean {
  return blocks.some((block) => {
    const text = textOf(block);
    // A sticky or global expression remembers where it was; searching does not.
    return patterns.some((pattern) => text.search(pattern) !== -1);
  });
}
