import { type Conversation, type Format, withMessages } from './format.ts';
import {
  type Block,
  hasToolCall,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
} from './message.ts';
import { type BlockPosition, linkTools } from './tool-links.ts';

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
export function ensureToolResultPairing<Body>(
  conversation: Conversation<Body>,
  options: PairingOptions = {},
): Conversation<Body> {
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
  return withMessages(conversation, isSame(merged, conversation.messages) ? conversation.messages : merged);
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
  for (let start = 0; start < messages.length; ) {
    const isUsers = messages[start]?.role === 'user';
    let end = start + 1;
    while (isUsers && messages[end]?.role === 'user') end++;
    const [first, ...others] = messages.slice(start, end);
    if (first !== undefined) {
      const blocks = [first, ...others].flatMap((message) => message.blocks);
      merged.push(others.length === 0 ? first : format.withBlocks(first, resultsFirst(blocks)));
    }
    start = end;
  }
  return merged;
}

function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  return [
    ...blocks.filter((block) => block.type === 'tool-result'),
    ...blocks.filter((block) => block.type !== 'tool-result'),
  ];
}

function isSame<Item>(left: readonly Item[], right: readonly Item[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/**
 * Takes out what no provider accepts in any place: a second call under one id, a server tool's call or result without
 * its other half, a client's call or result in the wrong role, blank text where it is refused.
 */
function dropImpossibleBlocks(messages: readonly Message[], format: Format): readonly Message[] {
  const withoutRepeats = dropRepeatedCalls(messages, format);
  const lonely = findLonelyServerBlocks(withoutRepeats);
  return withoutRepeats.map((message, index) =>
    keepBlocks(message, format, (block, position) => {
      if (lonely.has(key({ message: index, block: position }))) return false;
      if (format.refusesBlankText && block.type === 'text' && block.text.trim() === '') return false;
      return isInItsRole(block, message);
    }),
  );
}

/** The message without the blocks that `isKept` refuses; the very same one when it keeps all. */
function keepBlocks(
  message: Message,
  format: Format,
  isKept: (block: Block, position: number) => boolean,
): Message {
  const blocks = message.blocks.filter(isKept);
  if (blocks.length === message.blocks.length) return message;
  return format.withBlocks(message, blocks);
}

function isInItsRole(block: Block, message: Message): boolean {
  if (block.type === 'tool-call') return message.role === 'assistant';
  if (block.type === 'tool-result') return (message.role === 'assistant') === (block.runBy === 'server');
  return true;
}

function dropRepeatedCalls(messages: readonly Message[], format: Format): readonly Message[] {
  const taken = new Set<string>();
  const isFreedByResult = format.tools.callIdsUniqueAmong === 'open-calls';
  return messages.map((message) =>
    keepBlocks(message, format, (block) => {
      if (block.type === 'tool-result' && block.callId !== undefined && isFreedByResult)
        taken.delete(block.callId);
      if (block.type !== 'tool-call' || block.id === undefined) return true;
      if (taken.has(block.id)) return false;
      taken.add(block.id);
      return true;
    }),
  );
}

/** Server calls without result, except those of a turn that may still be running, and results without call. */
function findLonelyServerBlocks(messages: readonly Message[]): ReadonlySet<string> {
  const links = linkTools(messages);
  const running = runningTurn(messages);
  const isServers = ({ message, block }: BlockPosition) => {
    const found = messages[message]?.blocks[block];
    return (found?.type === 'tool-call' || found?.type === 'tool-result') && found.runBy === 'server';
  };
  return new Set([
    ...links.unanswered.filter((position) => isServers(position) && position.message !== running).map(key),
    ...links.orphans.filter(isServers).map(key),
  ]);
}

/** The last answer, when nothing but results of its calls follows: the provider goes on with it. */
function runningTurn(messages: readonly Message[]): number | undefined {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const rest = messages.slice(last + 1).flatMap((message) => message.blocks);
  return rest.every((block) => block.type === 'tool-result') ? last : undefined;
}

function key({ message, block }: BlockPosition): string {
  return `${message}.${block}`;
}

interface AnswerOptions {
  /** Makes up the result of a call that nothing answers; undefined for a call that needs none. */
  readonly answerFor: (call: ToolCallBlock) => ToolResultBlock | undefined;
  /** Whether calls in neighbouring answers of the model may have all their results in the one message behind them. */
  readonly mayShareAnswer?: boolean;
}

/**
 * Puts exactly one result for every client call where the format wants it, and takes out every other result. Results
 * that stand right stay where they are, in their order; those from elsewhere follow them; those that `answerFor` has
 * to make up come last.
 */
export function placeAnswers(
  messages: readonly Message[],
  format: Format,
  options: AnswerOptions,
): readonly Message[] {
  const answers = collectAnswers(messages, options);
  switch (format.tools.resultsStand) {
    case 'next-message':
      return placeInNextMessage(messages, answers, {
        format,
        mayShareAnswer: options.mayShareAnswer === true,
      });
    case 'following-messages':
      return placeBehindCalls(messages, answers, format);
    case 'later':
      return placeLater(messages, answers, format);
  }
}

/** A result and the index of the message it was found in. */
interface FoundResult {
  readonly block: ToolResultBlock;
  readonly from: number;
}

interface Answers {
  /** For each message with client calls: the results of its calls, in order of appearance. */
  readonly real: ReadonlyMap<number, readonly FoundResult[]>;
  /** For each message with client calls that nothing answers: results made up for them. */
  readonly madeUp: ReadonlyMap<number, readonly ToolResultBlock[]>;
  /** Messages with a result that answers nothing. By index: one and the same value may stand in the list twice. */
  readonly orphans: ReadonlySet<number>;
}

function collectAnswers(messages: readonly Message[], { answerFor }: AnswerOptions): Answers {
  const links = linkTools(messages);
  const real = new Map<number, FoundResult[]>();
  const madeUp = new Map<number, ToolResultBlock[]>();
  for (const { call, result } of links.pairs) {
    const block = messages[result.message]?.blocks[result.block];
    if (block?.type === 'tool-result' && block.runBy === 'client') {
      append(real, call.message, { block, from: result.message });
    }
  }
  for (const { message, block: position } of links.unanswered) {
    const call = messages[message]?.blocks[position];
    const answer = call?.type === 'tool-call' && call.runBy === 'client' ? answerFor(call) : undefined;
    if (answer !== undefined) append(madeUp, message, answer);
  }
  return { real, madeUp, orphans: new Set(links.orphans.map(({ message }) => message)) };
}

function append<Item>(lists: Map<number, Item[]>, index: number, item: Item): void {
  const list = lists.get(index);
  if (list === undefined) lists.set(index, [item]);
  else list.push(item);
}

function placeInNextMessage(
  messages: readonly Message[],
  answers: Answers,
  { format, mayShareAnswer }: { readonly format: Format; readonly mayShareAnswer: boolean },
): readonly Message[] {
  const placed: Message[] = [];
  let owed: ToolResultBlock[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      placed.push(answerFirst(message, owed, format));
      owed = [];
      continue;
    }
    placed.push(message);
    owed.push(...(answers.real.get(index) ?? []).map(({ block }) => block));
    owed.push(...(answers.madeUp.get(index) ?? []));
    const next = messages[index + 1];
    const isShared =
      mayShareAnswer && next?.role === 'assistant' && hasToolCall(next) && hasToolCall(message);
    if (owed.length === 0 || next?.role === 'user' || isShared) continue;
    placed.push(...format.userMessages(owed));
    owed = [];
  }
  return placed;
}

/** The user message with these results at its head, those first that stand in it already, and without all others. */
function answerFirst(message: Message, owed: readonly ToolResultBlock[], format: Format): Message {
  const wanted = new Set<Block>(owed);
  const own = message.blocks.filter((block) => wanted.has(block));
  // One and the same value may stand in the list twice, and answer two calls.
  const present = new Map<Block, number>();
  for (const block of own) present.set(block, (present.get(block) ?? 0) + 1);
  const isElsewhere = (block: Block) => {
    const times = present.get(block) ?? 0;
    present.set(block, times - 1);
    return times <= 0;
  };
  const blocks = [
    ...own,
    ...owed.filter(isElsewhere),
    ...message.blocks.filter((block) => !isClientResult(block)),
  ];
  return isSame(blocks, message.blocks) ? message : format.withBlocks(message, blocks);
}

/** Messages of results stay where they stand behind the calls they answer. Results from elsewhere follow them. */
function placeBehindCalls(
  messages: readonly Message[],
  answers: Answers,
  format: Format,
): readonly Message[] {
  const callers = callersOfResults(answers);
  const atHome = new Set<number>();
  const placed: Message[] = [];
  let caller = -1;
  const bringTheRest = () => {
    for (const { block, from } of answers.real.get(caller) ?? []) {
      const source = messages[from];
      if (source === undefined || atHome.has(from)) continue;
      const isAlone = source.blocks.filter(isClientResult).length === 1;
      placed.push(...(isAlone ? [source] : format.userMessages([block])));
    }
    for (const block of answers.madeUp.get(caller) ?? []) placed.push(...format.userMessages([block]));
  };
  for (const [index, message] of messages.entries()) {
    if (message.blocks.some(isClientResult)) {
      if (callers.get(index) !== caller) continue;
      atHome.add(index);
    } else if (!mayStandBetween(message, format)) {
      bringTheRest();
      caller = index;
    }
    placed.push(message);
  }
  bringTheRest();
  return placed;
}

/** For each message of results the one message whose calls they answer; undefined when there is not exactly one. */
function callersOfResults({ real, orphans }: Answers): ReadonlyMap<number, number | undefined> {
  const callers = new Map<number, number | undefined>();
  for (const [caller, results] of real) {
    for (const { from } of results) {
      const isShared = callers.has(from) && callers.get(from) !== caller;
      callers.set(from, isShared || orphans.has(from) ? undefined : caller);
    }
  }
  return callers;
}

function mayStandBetween({ blocks }: Message, { tools }: Format): boolean {
  const allowed = tools.standBetween ?? [];
  return (
    blocks.length > 0 &&
    blocks.every((block) => block.type === 'other' && allowed.includes(block.wireType ?? ''))
  );
}

function placeLater(messages: readonly Message[], answers: Answers, format: Format): readonly Message[] {
  const placed: Message[] = [];
  let owed: ToolResultBlock[] = [];
  const pay = () => {
    if (owed.length > 0) placed.push(...format.userMessages(owed));
    owed = [];
  };
  for (const [index, message] of messages.entries()) {
    // Parallel calls stand side by side; made-up outputs wait until the run of the model's items is over.
    if (message.role !== 'assistant') pay();
    if (!answers.orphans.has(index)) placed.push(message);
    owed.push(...(answers.madeUp.get(index) ?? []));
  }
  pay();
  return placed;
}

function isClientResult(block: Block): boolean {
  return block.type === 'tool-result' && block.runBy === 'client';
}
