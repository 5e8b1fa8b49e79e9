import { fileAccess } from '../conversation/file-access.ts';
import type { Conversation } from '../conversation/format.ts';
import type { ToolCallBlock, ToolResultBlock } from '../conversation/message.ts';
import { groupRounds, nameRound, type Round } from '../conversation/rounds.ts';
import { type BlockPosition, linkTools, type ToolLinks } from '../conversation/tool-links.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { measureContext, type TokenClass, type TokenMeasure, tokensByClass } from '../tokens/measure.ts';
import { type TokenWarningState, tokenWarningState } from '../tokens/thresholds.ts';

/** What is in a conversation and where its tokens go, as numbers. */
export interface Inspection {
  readonly messages: number;
  readonly rounds: number;
  readonly toolCalls: number;
  readonly unansweredCalls: number;
  readonly orphanResults: number;
  /** The whole context as the next request would send it. */
  readonly context: TokenMeasure;
  readonly window: WindowUse | undefined;
  /** Estimated tokens by what they are spent on. With `unaccounted` they add up to the context. */
  readonly byClass: Readonly<Record<TokenClass, number>>;
  /**
   * What the provider reported beyond the estimate of all that is here: hidden reasoning, instructions and tools that
   * were not recorded, overhead of its own. Below 0 where it reported less. 0 where it reported nothing.
   */
  readonly unaccounted: number;
  /** Tools by tokens of their calls and results, most first. */
  readonly byTool: readonly ToolUse[];
  readonly largestRounds: readonly NamedSize[];
  readonly largestResults: readonly NamedSize[];
  /** Files read more than once, those that cost most first. */
  readonly repeatedReads: readonly RepeatedRead[];
}

export interface WindowUse {
  readonly windowTokens: number;
  readonly share: number;
  readonly level: TokenWarningState;
}

export interface ToolUse {
  readonly tool: string;
  readonly calls: number;
  readonly errors: number;
  readonly tokens: number;
}

export interface NamedSize {
  readonly name: string;
  /** The file concerned, where there is one. */
  readonly path?: string | undefined;
  /** Index of the first message concerned. */
  readonly message: number;
  readonly tokens: number;
}

export interface RepeatedRead {
  readonly path: string;
  readonly reads: number;
  /** Tokens of all reads but the newest. */
  readonly olderTokens: number;
}

export interface InspectOptions {
  readonly estimator: TokenEstimator;
  /** Size of the model's window; unknown when left out. */
  readonly windowTokens?: number | undefined;
  /** How many of the largest to name. Default 5. */
  readonly top?: number;
}

/** Looks through a conversation. Linear in its size; counts every message once. */
export function inspectConversation(conversation: Conversation, options: InspectOptions): Inspection {
  const { estimator, windowTokens, top = 5 } = options;
  const links = linkTools(conversation.messages);
  const uses = collectToolUses(conversation, links, estimator);
  const rounds = groupRounds(conversation.messages);
  const context = measureContext(conversation, estimator);
  const byClass = tokensByClass(conversation, estimator);
  return {
    messages: conversation.messages.length,
    rounds: rounds.length,
    toolCalls: links.pairs.length + links.unanswered.length,
    unansweredCalls: links.unanswered.length,
    orphanResults: links.orphans.length,
    context,
    window: windowTokens === undefined ? undefined : windowUse(context.tokens, windowTokens),
    byClass,
    unaccounted: unaccountedTokens(context, byClass),
    byTool: sumByTool(uses),
    largestRounds: largest(
      rounds.map((round) => sizeOfRound(round, conversation, estimator)),
      top,
    ),
    largestResults: largest(uses.flatMap(sizeOfResult), top),
    repeatedReads: findRepeatedReads(uses).slice(0, top),
  };
}

function unaccountedTokens({ tokens, reportedTokens }: TokenMeasure, byClass: Inspection['byClass']): number {
  if (reportedTokens === 0) return 0;
  return tokens - Object.values(byClass).reduce((sum, size) => sum + size, 0);
}

function windowUse(tokens: number, windowTokens: number): WindowUse {
  const share = windowTokens > 0 ? tokens / windowTokens : 0;
  return { windowTokens, share, level: tokenWarningState(tokens, windowTokens) };
}

/** A call with its result, as far as each is there. */
interface ToolUseRecord {
  readonly call: ToolCallBlock | undefined;
  readonly result: ToolResultBlock | undefined;
  readonly message: number;
  readonly callTokens: number;
  readonly resultTokens: number;
}

function collectToolUses(
  { messages }: Conversation,
  links: ToolLinks,
  estimator: TokenEstimator,
): readonly ToolUseRecord[] {
  const record = (at: BlockPosition | undefined, answer: BlockPosition | undefined): ToolUseRecord => {
    const call = at === undefined ? undefined : messages[at.message]?.blocks[at.block];
    const result = answer === undefined ? undefined : messages[answer.message]?.blocks[answer.block];
    return {
      call: call?.type === 'tool-call' ? call : undefined,
      result: result?.type === 'tool-result' ? result : undefined,
      message: answer?.message ?? at?.message ?? 0,
      callTokens: call === undefined ? 0 : estimator.countBlock(call),
      resultTokens: result === undefined ? 0 : estimator.countBlock(result),
    };
  };
  return [
    ...links.pairs.map(({ call, result }) => record(call, result)),
    ...links.unanswered.map((call) => record(call, undefined)),
    ...links.orphans.map((result) => record(undefined, result)),
  ].sort((left, right) => left.message - right.message);
}

function nameOfTool({ call, result }: ToolUseRecord): string {
  return call?.name || result?.name || 'unknown tool';
}

function sumByTool(uses: readonly ToolUseRecord[]): readonly ToolUse[] {
  const byName = new Map<string, ToolUse>();
  for (const use of uses) {
    const tool = nameOfTool(use);
    const before = byName.get(tool) ?? { tool, calls: 0, errors: 0, tokens: 0 };
    byName.set(tool, {
      tool,
      calls: before.calls + (use.call === undefined ? 0 : 1),
      errors: before.errors + (use.result?.isError === true ? 1 : 0),
      tokens: before.tokens + use.callTokens + use.resultTokens,
    });
  }
  return [...byName.values()].sort((left, right) => right.tokens - left.tokens);
}

function sizeOfRound(round: Round, { messages }: Conversation, estimator: TokenEstimator): NamedSize {
  let tokens = 0;
  for (let index = round.start; index < round.end; index++) {
    const message = messages[index];
    if (message !== undefined) tokens += estimator.countMessage(message);
  }
  return { name: nameRound(round), message: round.start, tokens };
}

function sizeOfResult(use: ToolUseRecord): readonly NamedSize[] {
  if (use.result === undefined) return [];
  const path = use.call === undefined ? undefined : fileAccess(use.call)?.path;
  return [{ name: nameOfTool(use), path, message: use.message, tokens: use.resultTokens }];
}

function largest(sizes: readonly NamedSize[], top: number): readonly NamedSize[] {
  return [...sizes].sort((left, right) => right.tokens - left.tokens).slice(0, top);
}

function findRepeatedReads(uses: readonly ToolUseRecord[]): readonly RepeatedRead[] {
  const reads = new Map<string, ToolUseRecord[]>();
  for (const use of uses) {
    const access = use.call === undefined || use.result === undefined ? undefined : fileAccess(use.call);
    if (access?.kind !== 'read') continue;
    const known = reads.get(access.path);
    if (known === undefined) reads.set(access.path, [use]);
    else known.push(use);
  }
  return [...reads]
    .filter(([, list]) => list.length > 1)
    .map(([path, list]) => {
      const older = list.slice(0, -1);
      return { path, reads: list.length, olderTokens: older.reduce((sum, use) => sum + use.resultTokens, 0) };
    })
    .sort((left, right) => right.olderTokens - left.olderTokens);
}
