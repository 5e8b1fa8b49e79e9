import { createHash } from 'node:crypto';
import type { Conversation, Frame } from '../conversation/format.ts';
import { asList, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, Message } from '../conversation/message.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import { asObject, canonicalJson } from './json.ts';

/** One block of a prompt, in the order in which the model reads it: tools, system, messages. */
export interface PromptBlock {
  /** Tokens of the prompt up to the end of this block. */
  readonly endTokens: number;
  /** The same for two prompts that are equal up to the end of this block, cache markers aside. */
  readonly prefixHash: string;
  /** The block's own `cache_control`, if it has one. */
  readonly cacheControl: JsonObject | undefined;
}

/** A prompt in tokens, block by block. */
export interface Prompt {
  readonly conversation: Conversation;
  readonly tokens: number;
  readonly blocks: readonly PromptBlock[];
  countText(text: string): number;
}

/** Counts the prompt of a request body; replaces the built-in estimate. */
export type TokenCounter = (body: unknown) => number;

interface Piece {
  readonly tokens: number;
  readonly value: unknown;
  readonly cacheControl: JsonObject | undefined;
}

/**
 * Measures a prompt. With a counter of the caller's the total is what it says, and the blocks share it in proportion to
 * their estimates.
 */
export function measurePrompt(conversation: Conversation, countTokens?: TokenCounter): Prompt {
  const { frame, messages } = conversation;
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(frame.model) });
  const settings = cacheSettings(conversation);
  const pieces = [
    ...toolPieces(frame, estimator),
    ...frame.system.map((block) => pieceOf('system', block, estimator.countBlock(block))),
    ...messages
      .flatMap((message) => messagePieces(message, estimator))
      .map((piece, index) => (index === 0 ? { ...piece, value: [settings, piece.value] } : piece)),
  ];
  const sum = pieces.reduce((total, { tokens }) => total + tokens, estimator.profile.perRequestTokens);
  const counted = countTokens?.(frame.body);
  const tokens = counted ?? Math.round(sum);
  const blocks = accumulate(pieces, frame.model ?? '', {
    tokens: estimator.profile.perRequestTokens,
    scale: counted === undefined || sum === 0 ? 1 : counted / sum,
  });
  return { conversation, tokens, blocks, countText: estimator.countText };
}

function accumulate(
  pieces: readonly Piece[],
  model: string,
  start: { readonly tokens: number; readonly scale: number },
): readonly PromptBlock[] {
  let { tokens } = start;
  let prefixHash = model;
  return pieces.map((piece) => {
    tokens += piece.tokens;
    prefixHash = createHash('sha256')
      .update(prefixHash)
      .update('\n')
      .update(canonicalJson(piece.value))
      .digest('base64url');
    return { endTokens: Math.round(tokens * start.scale), prefixHash, cacheControl: piece.cacheControl };
  });
}

function toolPieces(frame: Frame, estimator: TokenEstimator): readonly Piece[] {
  return frame.tools.map((tool, index) => {
    const alone = estimator.countTools({ ...frame, tools: [tool] });
    // The hidden prompt that introduces tools is there once.
    const tokens = index === 0 ? alone : alone - estimator.profile.toolPromptTokens;
    return { tokens, value: ['tool', tool.raw], cacheControl: cacheControlOf(tool.raw) };
  });
}

/**
 * What the messages of an Anthropic request are cached under besides the prompt itself: the choice of tools (none is
 * `auto`), thinking and effort, and whether there are images at all. Changing it keeps only tools and system cached.
 */
function cacheSettings({ format, frame, messages }: Conversation): unknown {
  if (format.name !== 'anthropic-messages') return undefined;
  const { tool_choice: choice, thinking, output_config: output } = asObject(frame.body);
  return [
    choice ?? { type: 'auto' },
    isObject(thinking) ? [thinking['type'], thinking['budget_tokens'] ?? null] : null,
    asObject(output)['effort'] ?? null,
    messages.some(({ blocks }) => blocks.some(hasImage)),
  ];
}

function hasImage(block: Block): boolean {
  if (block.type === 'tool-result') return block.content.some(hasImage);
  return block.type === 'media' && block.media === 'image';
}

function messagePieces(message: Message, estimator: TokenEstimator): readonly Piece[] {
  const { perMessageTokens } = estimator.profile;
  if (message.blocks.length === 0)
    return [{ tokens: perMessageTokens, value: message.raw, cacheControl: undefined }];
  return message.blocks.map((block, index) =>
    pieceOf(
      index === 0 ? `begin ${message.role}` : message.role,
      block,
      estimator.countBlock(block) + (index === 0 ? perMessageTokens : 0),
    ),
  );
}

function pieceOf(place: string, block: Block, tokens: number): Piece {
  const value = typeof block.raw === 'string' ? { type: 'text', text: block.raw } : block.raw;
  return { tokens, value: [place, value], cacheControl: cacheControlOf(block.raw) };
}

/** A marker inside a tool result counts for the whole result. */
function cacheControlOf(raw: unknown): JsonObject | undefined {
  return [raw, ...asList(asObject(raw)['content'])]
    .map((block) => asObject(block)['cache_control'])
    .find(isObject);
}
