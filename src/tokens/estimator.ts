import type { Frame } from '../conversation/format.ts';
import type { Block, Message } from '../conversation/message.ts';
import { rememberFold } from '../conversation/prefix-memory.ts';
import { countMedia } from './media.ts';
import { o200kProfile, type TokenProfile } from './profiles.ts';
import { estimateTextTokens } from './text-estimator.ts';

/** Counts tokens of every part of a conversation. Sizes of messages are remembered. */
export interface TokenEstimator {
  readonly profile: TokenProfile;
  countText(text: string): number;
  countBlock(block: Block): number;
  /** The same for a block of a message; costs nothing once the message was counted and has no other block. */
  countBlockOf(message: Message, index: number): number;
  /** All blocks of a message and what the provider wraps it in. */
  countMessage(message: Message): number;
  /** All messages of a list. A list that has grown since costs only what is new. */
  countMessages(messages: readonly Message[]): number;
  countSystem(frame: Frame): number;
  countTools(frame: Frame): number;
}

export interface TokenEstimatorOptions {
  /** The family of models to count for. Default o200k. */
  readonly profile?: TokenProfile;
  /** Counts a text in tokens of the profile's family. Default: the built-in estimate, scaled to the family. */
  readonly countText?: (text: string) => number;
}

/** Makes an estimator. Keep it for the life of a conversation: it counts every message only once. */
export function createTokenEstimator(options: TokenEstimatorOptions = {}): TokenEstimator {
  const profile = options.profile ?? o200kProfile;
  const countText = options.countText ?? ((text: string) => estimateTextTokens(text) * profile.textRatio);
  const sizes = new WeakMap<Message, number>();

  const countBlock = (block: Block): number => {
    switch (block.type) {
      case 'text':
      case 'compaction':
        return countText(block.text);
      case 'reasoning':
        // What is sealed goes back to the model whole; a readable summary of it does not count a second time.
        return block.sealed === undefined
          ? countText(block.text)
          : block.sealed.length * profile.sealedTokensPerCharacter;
      case 'tool-call':
        return countText(block.name) + countText(jsonText(block.input));
      case 'tool-result': {
        let size = 0;
        for (const inner of block.content) size += countBlock(inner);
        return size;
      }
      case 'media':
        return block.text === undefined ? countMedia(block, profile.media) : countText(block.text);
      case 'other':
        return countText(jsonText(block.raw));
    }
  };

  const countMessage = (message: Message): number => {
    const known = sizes.get(message);
    if (known !== undefined) return known;
    let size = profile.perMessageTokens;
    for (const block of message.blocks) size += countBlock(block);
    sizes.set(message, size);
    return size;
  };

  const blockSizes = new WeakMap<Block, number>();
  const countBlockOf = (message: Message, index: number): number => {
    const block = message.blocks[index];
    if (block === undefined) return 0;
    if (message.blocks.length === 1) return countMessage(message) - profile.perMessageTokens;
    const size = blockSizes.get(block) ?? countBlock(block);
    blockSizes.set(block, size);
    return size;
  };

  /** Sizes up to and with each message. */
  const foldSizes = rememberFold<Message, number[]>({
    start: () => [],
    add(sums, message) {
      sums.push((sums.at(-1) ?? 0) + countMessage(message));
    },
    rewind(sums, length) {
      sums.length = length;
    },
  });
  const countMessages = (messages: readonly Message[]): number =>
    messages.length === 0 ? 0 : (foldSizes(messages)[messages.length - 1] ?? 0);

  const countSystem = rememberSize(({ system }) =>
    system.reduce((total, block) => total + countBlock(block), 0),
  );
  const countTools = rememberSize(({ tools }) => {
    if (tools.length === 0) return 0;
    const sizes = tools.map(({ raw }) => profile.perToolTokens + countText(jsonText(raw)));
    return sizes.reduce((total, size) => total + size, profile.toolPromptTokens);
  });

  return {
    profile,
    countText,
    countBlock,
    countBlockOf,
    countMessage,
    countMessages,
    countSystem,
    countTools,
  };
}

/** What stands around the messages is asked for again at every step. */
function rememberSize(count: (frame: Frame) => number): (frame: Frame) => number {
  const sizes = new WeakMap<Frame, number>();
  return (frame) => {
    const size = sizes.get(frame) ?? count(frame);
    sizes.set(frame, size);
    return size;
  };
}

/** A value as the model gets to see it: text as it is, everything else as JSON. */
function jsonText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}
