import { type Conversation, type Format, withMessages } from './format.ts';
import type { Block, Message } from './message.ts';
import { placeAnswers } from './pairing-answers.ts';
import { dropImpossibleBlocks } from './pairing-blocks.ts';

export interface PairingOptions {
  /** Merge user messages that follow one another, where a message holds several blocks. Default true. */
  readonly mergeUserMessages?: boolean;
  /** What a result says whose tool never answered. */
  readonly missingResultText?: string;
  /** What stands in for a user message that repair emptied and that order needs. */
  readonly placeholderText?: string;
}

/** Default text of a result that was made up because the real one is missing. */
export const MISSING_RESULT_TEXT = '[no result was recorded for this tool call]';

/** Default text of a user message that only keeps the order of roles. */
export const PLACEHOLDER_TEXT = '[earlier message removed]';

/**
 * Mends what makes a provider refuse a list for good: calls without results, results without calls or away from their
 * place, the same id or the same result twice, emptied messages. Repairing twice changes nothing more, and when
 * nothing is wrong the very same conversation comes back.
 *
 * When the server holds part of the history, what looks lonely may have its other half there: nothing is touched.
 *
 * A result that merely stands in the wrong place is moved to its call, not replaced. What has to go is removed from
 * the list only; the caller still has the original.
 */
export function ensureToolResultPairing(
  conversation: Conversation,
  options: PairingOptions = {},
): Conversation {
  const { format, frame } = conversation;
  if (frame.continues !== undefined || conversation.messages.length === 0) return conversation;
  const missingText = options.missingResultText ?? MISSING_RESULT_TEXT;
  const placeholder = options.placeholderText ?? PLACEHOLDER_TEXT;

  const possible = dropImpossibleBlocks(conversation.messages, format);
  const answered = placeAnswers(possible, format, {
    answerFor: (call) => format.failedResult(call, missingText),
  });
  const ordered = keepOrder(answered, format, placeholder);
  const merged = options.mergeUserMessages === false ? ordered : mergeUserMessages(ordered, format);
  return withMessages(
    conversation,
    isSameList(merged, conversation.messages) ? conversation.messages : merged,
  );
}

/**
 * Drops messages without content, except where a user message has to stand: at the head, between two answers, and when
 * nothing else is left.
 */
function keepOrder(messages: readonly Message[], format: Format, placeholder: string): readonly Message[] {
  const stand = () => format.userMessages([format.textBlock(placeholder)]);
  const kept: Message[] = [];
  let isUserMissing = false;
  for (const message of messages) {
    if (isEmpty(message, format)) {
      isUserMissing ||= message.role === 'user';
      continue;
    }
    if (message.role === 'assistant') {
      const opens = kept.length === 0 && format.userFirst && !isBorder(message);
      const follows = isUserMissing && kept.at(-1)?.role === 'assistant';
      if (opens || follows) kept.push(...stand());
    }
    isUserMissing = false;
    kept.push(message);
  }
  return kept.length === 0 ? stand() : kept;
}

function isEmpty({ blocks }: Message, format: Format): boolean {
  return blocks.every((block) => block.type === 'reasoning' && !format.reasoningStandsAlone);
}

/** A provider's own summary may open a list although it is the assistant's. */
function isBorder(message: Message): boolean {
  return message.blocks[0]?.type === 'compaction';
}

/** Joins neighbours where one message can hold all their blocks. Results keep standing first. */
function mergeUserMessages(messages: readonly Message[], format: Format): readonly Message[] {
  if (format.tools.resultsStand !== 'next-message') return messages;
  const merged: Message[] = [];
  let run: Message[] = [];
  const flush = () => {
    const [first, second] = run;
    if (first !== undefined && second !== undefined) {
      const blocks = run.flatMap((message) => message.blocks);
      merged.push(format.withBlocks(first, resultsFirst(blocks)));
    } else if (first !== undefined) merged.push(first);
    run = [];
  };
  for (const message of messages) {
    if (message.role === 'user') {
      run.push(message);
      continue;
    }
    flush();
    merged.push(message);
  }
  flush();
  return merged;
}

function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  return [
    ...blocks.filter((block) => block.type === 'tool-result'),
    ...blocks.filter((block) => block.type !== 'tool-result'),
  ];
}

function isSameList(left: readonly Message[], right: readonly Message[]): boolean {
  return left.length === right.length && left.every((message, index) => message === right[index]);
}
