import type { Format } from './format.ts';
import type { Block, Message, ToolCallBlock, ToolResultBlock } from './message.ts';
import { linkTools } from './tool-links.ts';

/**
 * Puts exactly one result for every client call where the format wants it, and takes out every other result. Results
 * that stand right stay where they are, in their order; those from elsewhere follow them; those that `answerFor` has
 * to make up come last.
 */
export function placeAnswers(
  messages: readonly Message[],
  format: Format,
  answerFor: (call: ToolCallBlock) => ToolResultBlock,
): readonly Message[] {
  const answers = collectAnswers(messages, answerFor);
  switch (format.tools.resultsStand) {
    case 'next-message':
      return placeInNextMessage(messages, answers, format);
    case 'following-messages':
      return placeBehindCalls(messages, answers, format);
    case 'later':
      return placeLater(messages, answers, format);
  }
}

/** For each message with client calls: the real results of its calls in order of appearance, and the made-up ones. */
interface Answers {
  readonly real: Map<number, ToolResultBlock[]>;
  readonly madeUp: Map<number, ToolResultBlock[]>;
}

function collectAnswers(
  messages: readonly Message[],
  answerFor: (call: ToolCallBlock) => ToolResultBlock,
): Answers {
  const links = linkTools(messages);
  const answers: Answers = { real: new Map(), madeUp: new Map() };
  for (const { call, result } of links.pairs) {
    const block = messages[result.message]?.blocks[result.block];
    if (block?.type === 'tool-result' && block.runBy === 'client') append(answers.real, call.message, block);
  }
  for (const { message, block: position } of links.unanswered) {
    const call = messages[message]?.blocks[position];
    if (call?.type === 'tool-call' && call.runBy === 'client')
      append(answers.madeUp, message, answerFor(call));
  }
  return answers;
}

function append(lists: Map<number, ToolResultBlock[]>, index: number, block: ToolResultBlock): void {
  const list = lists.get(index);
  if (list === undefined) lists.set(index, [block]);
  else list.push(block);
}

function answersTo(answers: Answers, index: number): readonly ToolResultBlock[] {
  return [...(answers.real.get(index) ?? []), ...(answers.madeUp.get(index) ?? [])];
}

function placeInNextMessage(
  messages: readonly Message[],
  answers: Answers,
  format: Format,
): readonly Message[] {
  const placed: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      const wanted = [
        ...answersTo(answers, index - 1),
        ...message.blocks.filter((block) => !isClientResult(block)),
      ];
      placed.push(isSameBlocks(wanted, message.blocks) ? message : format.withBlocks(message, wanted));
      continue;
    }
    placed.push(message);
    const results = answersTo(answers, index);
    if (results.length > 0 && messages[index + 1]?.role !== 'user')
      placed.push(...format.userMessages(results));
  }
  return placed;
}

function placeBehindCalls(
  messages: readonly Message[],
  answers: Answers,
  format: Format,
): readonly Message[] {
  const home = new Map<Block, Message>();
  for (const message of messages) for (const block of message.blocks) home.set(block, message);
  return messages.flatMap((message, index) => {
    if (message.blocks.some(isClientResult)) return [];
    const results = answersTo(answers, index);
    return [message, ...results.flatMap((block) => home.get(block) ?? format.userMessages([block]))];
  });
}

function placeLater(messages: readonly Message[], answers: Answers, format: Format): readonly Message[] {
  const answering = new Set<Block>([...answers.real.values()].flat());
  const placed: Message[] = [];
  let owed: ToolResultBlock[] = [];
  const pay = () => {
    if (owed.length > 0) placed.push(...format.userMessages(owed));
    owed = [];
  };
  for (const [index, message] of messages.entries()) {
    // Parallel calls stand side by side; made-up outputs wait until the run of the model's items is over.
    if (message.role !== 'assistant') pay();
    const isOrphan = message.blocks.some((block) => isClientResult(block) && !answering.has(block));
    if (!isOrphan) placed.push(message);
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
