/** Which messages stay word for word. */

import { legalCuts, type Span } from '../../conversation/cuts.ts';
import { type Message, textOf } from '../../conversation/message.ts';
import { readOpenings } from '../../conversation/summary-message.ts';
import { isBorder, surveyOf } from './survey.ts';

/** What has to survive verbatim, besides what always does. */
export interface PinOptions {
  /** Messages in which one of these is found stay, with the round they belong to. */
  readonly patterns?: readonly RegExp[] | undefined;
  /** So do messages that this is true of. */
  readonly isPinned?: ((message: Message) => boolean) | undefined;
}

/** Which of the messages that always survive may be told in other words after all, because they would take too much. */
export interface PinLimits {
  /** Whether a text of the user's may stay whole. Default: any may. */
  readonly isShortEnough?: ((asked: Message) => boolean) | undefined;
  /** The system messages, among those behind the first answer, that stay. Default: all. */
  readonly systemMessages?: ReadonlySet<number> | undefined;
}

/**
 * The list as stretches between legal cuts, in order. Pinned are those with the user's first text, the first one with
 * words of the user's own where a harness has put something in front, a system message, a summary of the provider's, or a
 * match of a pattern; and the user's last text where it is more than text, since text can be quoted.
 */
export function spansOf(
  messages: readonly Message[],
  pins: PinOptions = {},
  limits: PinLimits = {},
): readonly Span[] {
  const pinned = pinnedIn(messages, pins, limits);
  const { lastAsked, firstAsked, firstOwnWords } = surveyOf(messages);
  const isQuotable = lastAsked !== undefined && lastAsked !== firstAsked && lastAsked !== firstOwnWords;
  if (isQuotable && !pinned.matched.has(lastAsked) && isPlainText(messages[lastAsked]))
    pinned.all.delete(lastAsked);
  const cuts = legalCuts(messages);
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index] ?? 0;
    let isPinned = false;
    for (let message = start; message < end; message++)
      isPinned ||= pinned.all.has(message) || isBorder(messages[message]);
    return { start, end, isPinned };
  });
}

function isPlainText(message: Message | undefined): boolean {
  return message?.blocks.every(({ type }) => type === 'text') === true;
}

/** The messages that are pinned for their own sake: their bytes may not change. */
export function pinnedMessages(messages: readonly Message[], pins: PinOptions = {}): ReadonlySet<number> {
  return pinnedIn(messages, pins, {}).all;
}

function pinnedIn(
  messages: readonly Message[],
  { patterns = [], isPinned }: PinOptions,
  { isShortEnough = () => true, systemMessages: keptSystem }: PinLimits,
): { readonly all: Set<number>; readonly matched: ReadonlySet<number> } {
  const { firstAsked, firstOwnWords, lastAsked, systemMessages } = surveyOf(messages);
  const all = new Set(keptSystem ?? systemMessages);
  for (const index of [firstAsked, firstOwnWords, lastAsked]) {
    const asked = index === undefined ? undefined : messages[index];
    // A message of ours that holds the user's first text is written anew with every summary.
    const isTheirs = asked !== undefined && readOpenings(asked) === undefined;
    if (index !== undefined && isTheirs && isShortEnough(asked)) all.add(index);
  }
  const matched = new Set<number>();
  if (patterns.length > 0 || isPinned !== undefined) {
    for (const [index, message] of messages.entries())
      if (isMatch(message, patterns, isPinned)) matched.add(index);
  }
  for (const index of matched) all.add(index);
  return { all, matched };
}

function isMatch(
  message: Message,
  patterns: readonly RegExp[],
  isPinned: PinOptions['isPinned'] = () => false,
): boolean {
  const hasPattern = message.blocks.some((block) => {
    const text = textOf(block);
    // A sticky or global expression remembers where it was; searching does not.
    return patterns.some((pattern) => text.search(pattern) !== -1);
  });
  // A summary that quotes what is looked for would stay for ever, and the next one would come on top of it.
  return (hasPattern || isPinned(message)) && readOpenings(message) === undefined;
}
