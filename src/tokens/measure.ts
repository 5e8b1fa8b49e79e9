import type { Conversation } from '../conversation/format.ts';
import type { Block, Message, Role, Usage } from '../conversation/message.ts';
import type { TokenEstimator } from './estimator.ts';

/** A number of tokens with how far it may be off. */
export interface TokenMeasure {
  readonly tokens: number;
  /** The true number lies between `low` and `high` in about 19 of 20 cases. */
  readonly low: number;
  readonly high: number;
  /** The part that a provider reported; the rest is estimated. */
  readonly reportedTokens: number;
}

/**
 * Tokens of the whole context as the next request would send it: what the provider reported with the newest response
 * that carries a usage, plus an estimate of what came after it. Without any usage everything is estimated.
 */
export function measureContext(conversation: Conversation, estimator: TokenEstimator): TokenMeasure {
  const { messages } = conversation;
  const anchor = findAnchor(messages);
  if (anchor === undefined) {
    return withErrorBar(0, requestTokens(conversation, estimator), estimator.profile.relativeError);
  }
  const learned = learnRatio(messages, estimator);
  const after = messages.slice(anchor.index).filter((message) => !isOfResponse(message, anchor));
  const estimate = tokensOf(after, estimator) * learned.ratio;
  return withErrorBar(anchor.usage.promptTokens + anchor.usage.outputTokens, estimate, learned.relativeError);
}

function withErrorBar(reported: number, estimate: number, relativeError: number): TokenMeasure {
  return {
    tokens: Math.round(reported + estimate),
    low: Math.floor(reported + estimate * (1 - relativeError)),
    high: Math.ceil(reported + estimate * (1 + relativeError)),
    reportedTokens: reported,
  };
}

/** Estimated tokens of a whole request: instructions, tools and messages. */
export function requestTokens({ frame, messages }: Conversation, estimator: TokenEstimator): number {
  const framed =
    estimator.countSystem(frame) + estimator.countTools(frame) + estimator.profile.perRequestTokens;
  return framed + estimator.countMessages(messages);
}

/** Estimated tokens of some messages. Unlike `countMessages` it remembers no list, so it is for parts of one. */
export function tokensOf(messages: readonly Message[], estimator: TokenEstimator): number {
  return messages.reduce((total, message) => total + estimator.countMessage(message), 0);
}

interface Anchor {
  /** Index of the first record of the response: tool results between its records were not part of its prompt. */
  readonly index: number;
  readonly responseId: string | undefined;
  readonly usage: Usage;
}

function findAnchor(messages: readonly Message[]): Anchor | undefined {
  const last = messages.findLastIndex(
    (message) => message.usage !== undefined && message.usage.promptTokens > 0,
  );
  const message = messages[last];
  if (message?.usage === undefined) return undefined;
  const { responseId, usage } = message;
  let index = last;
  for (let earlier = last - 1; responseId !== undefined && earlier >= 0; earlier--) {
    const record = messages[earlier];
    if (record?.role !== 'assistant') continue;
    if (record.responseId !== responseId) break;
    index = earlier;
  }
  return { index, responseId, usage };
}

function isOfResponse(message: Message, anchor: Anchor): boolean {
  if (message.usage === anchor.usage) return true;
  return (
    message.role === 'assistant' &&
    anchor.responseId !== undefined &&
    message.responseId === anchor.responseId
  );
}

export interface LearnedRatio {
  /** Reported tokens per estimated token in this conversation. */
  readonly ratio: number;
  /** Relative error to expect of an estimate scaled by it. */
  readonly relativeError: number;
}

/** Estimated tokens that the profile's own ratio is worth against what a conversation reports. */
const PRIOR_TOKENS = 2000;

/**
 * How many tokens this provider counts for each one estimated, from the growth of the prompt between one reported
 * usage and the next. What never changes (system prompt, tools) cancels out, so it need not be known.
 */
export function learnRatio(messages: readonly Message[], estimator: TokenEstimator): LearnedRatio {
  let estimated = PRIOR_TOKENS;
  let reported = PRIOR_TOKENS;
  let sinceLast = 0;
  let last: Usage | undefined;
  for (const message of messages) {
    const { usage } = message;
    if (usage !== undefined && usage.promptTokens > 0 && usage !== last) {
      const growth = last === undefined ? 0 : usage.promptTokens - last.promptTokens;
      // A prompt that shrank or jumped was edited, compacted or cached apart: it says nothing about the ratio.
      if (growth > 0 && growth < 5 * sinceLast) {
        estimated += sinceLast;
        reported += growth;
      }
      last = usage;
      sinceLast = 0;
    }
    sinceLast += estimator.countMessage(message);
  }
  const evidence = 1 - PRIOR_TOKENS / estimated;
  const relativeError = estimator.profile.relativeError * (1 - evidence / 2);
  return { ratio: reported / estimated, relativeError };
}

/** What tokens are spent on. */
export type TokenClass = (typeof tokenClasses)[number];

/** Every class, in the order in which reports list them. */
export const tokenClasses = [
  'system',
  'tools',
  'user',
  'assistant',
  'reasoning',
  'tool-calls',
  'tool-results',
  'media',
  'other',
  'overhead',
] as const;

/** Estimated tokens of a conversation by what they are spent on. The classes add up to the whole. */
export function tokensByClass(
  { frame, messages }: Conversation,
  estimator: TokenEstimator,
): Readonly<Record<TokenClass, number>> {
  const totals: Record<TokenClass, number> = {
    system: estimator.countSystem(frame),
    tools: estimator.countTools(frame),
    user: 0,
    assistant: 0,
    reasoning: 0,
    'tool-calls': 0,
    'tool-results': 0,
    media: 0,
    other: 0,
    overhead: estimator.profile.perRequestTokens + messages.length * estimator.profile.perMessageTokens,
  };
  for (const message of messages)
    for (const [name, tokens] of tokensOfBlocks(message, estimator)) totals[name] += tokens;
  return totals;
}

/** Estimated tokens of a block, and what they are spent on. */
export type ClassCount = readonly [name: TokenClass, tokens: number];

const remembered = new WeakMap<TokenEstimator, WeakMap<Message, readonly ClassCount[]>>();

/** What each block of a message is spent on, counted once. */
export function tokensOfBlocks(message: Message, estimator: TokenEstimator): readonly ClassCount[] {
  const known = remembered.get(estimator) ?? new WeakMap<Message, readonly ClassCount[]>();
  remembered.set(estimator, known);
  const counted =
    known.get(message) ??
    message.blocks.map((block): ClassCount => [classOf(block, message.role), estimator.countBlock(block)]);
  known.set(message, counted);
  return counted;
}

function classOf(block: Block, role: Role): TokenClass {
  switch (block.type) {
    case 'text':
      return role;
    case 'tool-call':
      return 'tool-calls';
    case 'tool-result':
      return 'tool-results';
    case 'compaction':
      return 'other';
    case 'reasoning':
    case 'media':
    case 'other':
      return block.type;
  }
}
