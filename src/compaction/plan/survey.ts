import {
  isUserText,
  type MediaBlock,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
} from '../../conversation/message.ts';
import { rememberFold } from '../../conversation/prefix-memory.ts';
import { readOpenings } from '../../conversation/summary-message.ts';
import { type BlockPosition, ToolLinker } from '../../conversation/tool-links.ts';
import { isHandover, ownWords } from '../../memory/words/own-words.ts';

/** A call of the client's tools with its result and where that stands. */
export interface AnsweredCall {
  readonly call: ToolCallBlock;
  readonly result: ToolResultBlock;
  readonly at: BlockPosition;
}

/** A picture, document or recording, and where it stands: in a message, or inside a tool result there. */
export interface FoundMedia {
  readonly block: MediaBlock;
  readonly message: number;
  readonly position: number;
  readonly inner: number | undefined;
}

/** What the strategies ask of a list again and again. */
export interface Survey {
  /** Every answered call whose result the client sent, in the order of the results. */
  readonly uses: readonly AnsweredCall[];
  readonly media: readonly FoundMedia[];
  /**
   * Indices of the user's first and last text. A summary is none, ours or that of another harness; a message of ours that
   * has the user's first text in front of its summary counts as the first.
   */
  readonly firstAsked: number | undefined;
  /** Index of the first of them with words of the user's own, behind what a harness puts in front. */
  readonly firstOwnWords: number | undefined;
  readonly lastAsked: number | undefined;
  readonly systemMessages: readonly number[];
}

/**
 * Looks through a list once for all that strategies want to know. A longer list of the same conversation goes on where the
 * last one ended.
 */
export function surveyOf(messages: readonly Message[]): Survey {
  const { uses, media, systemMessages, firstAsked, firstOwnWords, lastAsked } = foldSurvey(messages);
  // Copies: the fold goes on with its own lists.
  const lists = { uses: [...uses], media: [...media], systemMessages: [...systemMessages] };
  return { ...lists, firstAsked, firstOwnWords, lastAsked };
}

interface State {
  readonly messages: Message[];
  readonly uses: AnsweredCall[];
  readonly media: FoundMedia[];
  readonly systemMessages: number[];
  readonly linker: ToolLinker;
  firstAsked: number | undefined;
  firstOwnWords: number | undefined;
  lastAsked: number | undefined;
}

const foldSurvey = rememberFold<Message, State>({
  start() {
    const messages: Message[] = [];
    const uses: AnsweredCall[] = [];
    const linker = new ToolLinker({
      pair(call, result) {
        const asked = messages[call.message]?.blocks[call.block];
        const answer = messages[result.message]?.blocks[result.block];
        if (asked?.type !== 'tool-call' || answer?.type !== 'tool-result') return;
        if (answer.runBy === 'client') uses.push({ call: asked, result: answer, at: result });
      },
    });
    return {
      messages,
      uses,
      media: [],
      systemMessages: [],
      linker,
      firstAsked: undefined,
      firstOwnWords: undefined,
      lastAsked: undefined,
    };
  },

  add(state, message, index) {
    state.messages.push(message);
    state.linker.add(message, index);
    state.media.push(...mediaIn(message, index));
    if (message.role === 'system') state.systemMessages.push(index);
    const openings = readOpenings(message);
    if (openings?.some(({ kind }) => kind === 'said') === true) {
      // A message of ours that holds the user's first text already.
      state.firstAsked ??= index;
      state.firstOwnWords ??= index;
    }
    if (openings === undefined && isAsked(message)) {
      state.firstAsked ??= index;
      state.lastAsked = index;
      if (state.firstOwnWords === undefined && hasOwnWords(message)) state.firstOwnWords = index;
    }
  },
});

function isAsked(message: Message): boolean {
  if (!isUserText(message)) return false;
  const [first] = message.blocks;
  return first?.type !== 'text' || !isHandover(first.text);
}

function hasOwnWords({ blocks }: Message): boolean {
  return blocks.some((block) => block.type === 'text' && ownWords(block.text).trim() !== '');
}

function mediaIn({ blocks }: Message, message: number): readonly FoundMedia[] {
  return blocks.flatMap((block, position): readonly FoundMedia[] => {
    if (block.type === 'media') return [{ block, message, position, inner: undefined }];
    if (block.type !== 'tool-result') return [];
    return block.content.flatMap((held, inner) =>
      held.type === 'media' ? [{ block: held, message, position, inner }] : [],
    );
  });
}

/** Whether a message holds the provider's own summary: it cannot be made again, and the model does not see what stands before it. */
export function isBorder(message: Message | undefined): boolean {
  return message?.blocks.some(({ type }) => type === 'compaction') === true;
}
