import type { Format } from './format.ts';
import {
  type Block,
  hasToolCall,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
} from './message.ts';
import { linkTools } from './tool-links.ts';

export interface AnswerOptions {
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
  return isSameBlocks(blocks, message.blocks) ? message : format.withBlocks(message, blocks);
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

function isSameBlocks(left: readonly Block[], right: readonly Block[]): boolean {
  return left.length === right.length && left.every((block, index) => block === right[index]);
}
