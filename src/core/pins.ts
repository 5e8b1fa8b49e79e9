import { legalCuts } from './legality.ts';
import { isUserText, type Message, textOf } from './message.ts';
import { rememberFold } from './prefix-memory.ts';
import { readSummaryMessage } from './summary-message.ts';

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
 * The list as stretches between legal cuts, in order. Pinned are those with the user's first text, the last one, a
 * system message, or a match of a pattern. A summary of ours is no text of the user's.
 */
export function spansOf(messages: readonly Message[], pins: PinOptions = {}): readonly Span[] {
  const pinned = pinnedMessages(messages, pins);
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
  { patterns = NO_PATTERNS }: PinOptions = {},
): ReadonlySet<number> {
  const { first, last, others } = foldPinsFor(patterns)(messages);
  const asked = [first, last].filter((index) => index !== undefined);
  return new Set([...asked, ...others]);
}

const NO_PATTERNS: readonly RegExp[] = [];

interface Pins {
  first: number | undefined;
  last: number | undefined;
  /** System messages and those that match a pattern. */
  readonly others: number[];
}

type FoldPins = (messages: readonly Message[]) => Pins;

const foldsByPatterns = new WeakMap<readonly RegExp[], FoldPins>();

/** One memory for each set of patterns, so that a turn looks only at what is new. */
function foldPinsFor(patterns: readonly RegExp[]): FoldPins {
  const known = foldsByPatterns.get(patterns);
  if (known !== undefined) return known;
  const fold = rememberFold<Message, Pins>({
    start: () => ({ first: undefined, last: undefined, others: [] }),
    add(pins, message, index) {
      const isMatched = patterns.length > 0 && matches(message, patterns);
      const isAsked = isUserText(message);
      if (message.role === 'system') pins.others.push(index);
      if (!isAsked && !isMatched) return;
      // A summary is no text of the user's; and one that quotes what is looked for would stay for ever, and the next
      // one would come on top of it.
      if (readSummaryMessage(message) !== undefined) return;
      if (isMatched && message.role !== 'system') pins.others.push(index);
      if (!isAsked) return;
      pins.first ??= index;
      pins.last = index;
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
