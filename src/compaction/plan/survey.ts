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
 * Looks through a list once for all that strategies want to know: in a long conversation every further pass costs as
 * much as fetching all of it from memory. A longer list of the same conversation goes on where the last one ended.
 */
export function surveyOf(messages: readonly Message[]): Survey {
  const state = foldSurvey(messages);
  const { uses, media, systemMessages } = state.shown;
  // What was shown does not change when the conversation goes on; what is still true is shown again.
  state.shown = {
    uses: shownAgain(uses, state.uses),
    media: shownAgain(media, state.media),
    firstAsked: state.firstAsked,
    firstOwnWords: state.firstOwnWords,
    lastAsked: state.lastAsked,
    systemMessages: shownAgain(systemMessages, state.systemMessages),
  };
  return state.shown;
}

function shownAgain<Item>(shown: readonly Item[], items: readonly Item[]): readonly Item[] {
  return shown.length === items.length ? shown : items.slice();
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
  shown: Survey;
}

const NOTHING_SHOWN: Survey = {
  uses: [],
  media: [],
  firstAsked: undefined,
  firstOwnWords: undefined,
  lastAsked: undefined,
  systemMessages: [],
};

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
      shown: NOTHING_SHOWN,
    };
  },

  add(state, message, index) {
    state.messages.push(message);
    state.linker.add(message, index);
    findMedia(state.media, message, index);
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

function findMedia(media: FoundMedia[], { blocks }: Message, message: number): void {
  // Counted by hand: pairs of index and block would be most of what this costs.
  for (let position = 0; position < blocks.length; position++) {
    const block = blocks[position];
    if (block?.type === 'media') media.push({ block, message, position, inner: undefined });
    if (block?.type !== 'tool-result') continue;
    for (let inner = 0; inner < block.content.length; inner++) {
      const held = block.content[inner];
      if (held?.type === 'media') media.push({ block: held, message, position, inner });
    }
  }
}
