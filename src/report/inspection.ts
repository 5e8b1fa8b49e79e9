import { fileAccess } from '../conversation/file-access.ts';
import type { Conversation } from '../conversation/format.ts';
import type { ToolCallBlock, ToolResultBlock } from '../conversation/message.ts';
import { groupRounds, nameRound, type Round } from '../conversation/rounds.ts';
import { type BlockPosition, linkTools, type ToolLinks } from '../conversation/tool-links.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import {
  measureContext,
  requestTokens,
  type TokenClass,
  type TokenMeasure,
  tokensByClass,
} from '../tokens/measure.ts';
import { type TokenWarningState, tokenWarningState } from '../tokens/thresholds.ts';
import { formatCount } from './terminal.ts';

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
  /** Estimated tokens of what the file holds: what `compact` works on, and what `chat` would send of it. */
  readonly fileTokens: number;
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
    rounds: rounds.filter(({ kind }) => kind === 'response').length,
    toolCalls: links.pairs.length + links.unanswered.length,
    unansweredCalls: links.unanswered.length,
    orphanResults: links.orphans.length,
    context,
    window: windowTokens === undefined ? undefined : windowUse(context.tokens, windowTokens),
    byClass,
    unaccounted: unaccountedTokens(context, byClass),
    fileTokens: Math.round(requestTokens(conversation, estimator)),
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

/** A part of what a context is made of. */
export interface TokenPart {
  readonly name: string;
  /** Whether the name is a tool's, and so a stranger's text. */
  readonly isTool: boolean;
  readonly tokens: number;
  /** Class of its colour in charts. */
  readonly colour: string;
}

/** What people call what tokens are spent on: the same in a terminal and on a page. */
export const classNames: Readonly<Record<TokenClass, string>> = {
  system: 'instructions',
  tools: 'tool definitions',
  user: 'user',
  assistant: 'assistant',
  reasoning: 'reasoning',
  'tool-calls': 'tool calls',
  'tool-results': 'tool results',
  media: 'media',
  other: 'other',
  overhead: 'wrapping',
};

type OwnClass = Exclude<TokenClass, 'tool-calls' | 'tool-results'>;

const CLASSES: readonly { readonly of: OwnClass; readonly colour: string }[] = [
  { of: 'system', colour: 's7' },
  { of: 'tools', colour: 's4' },
  { of: 'user', colour: 's0' },
  { of: 'assistant', colour: 's2' },
  { of: 'reasoning', colour: 's3' },
  { of: 'media', colour: 's5' },
  { of: 'other', colour: 'quiet' },
  { of: 'overhead', colour: 'quiet' },
];

/** Tools take turns with two colours: their neighbours in the bar are other tools. */
const TOOL_COLOURS = ['s1', 's6'];

/**
 * Where the tokens of a context go: by class, and what tools took by tool. Calls and results of the `tools` largest
 * stand by themselves, those of the others together. Parts below half a token are left out.
 */
export function tokenParts(
  byClass: Readonly<Record<TokenClass, number>>,
  byTool: readonly ToolUse[],
  tools: number,
): readonly TokenPart[] {
  const classes = CLASSES.map(({ of, colour }) => ({
    name: classNames[of],
    isTool: false,
    tokens: byClass[of],
    colour,
  }));
  const named = byTool.slice(0, tools).map(({ tool, tokens }, index) => ({
    name: tool,
    isTool: true,
    tokens,
    colour: TOOL_COLOURS[index % TOOL_COLOURS.length] ?? 's1',
  }));
  const all = byClass['tool-calls'] + byClass['tool-results'];
  const rest = all - named.reduce((sum, { tokens }) => sum + tokens, 0);
  const others = {
    name: named.length === 0 ? 'tool calls and results' : 'other tools',
    isTool: false,
    tokens: rest,
    colour: TOOL_COLOURS[named.length % TOOL_COLOURS.length] ?? 's1',
  };
  return [...classes, ...named, others].filter(({ tokens }) => tokens >= 0.5);
}

/** What a report says about the difference between what was reported and what was found. */
export interface Unaccounted {
  /** A row of tokens that were sent and are not in the file; undefined where the file holds more than was sent. */
  readonly row: { readonly name: string; readonly tokens: number } | undefined;
  readonly note: string;
}

/** Undefined below half a token. */
export function accountFor(tokens: number): Unaccounted | undefined {
  if (Math.abs(tokens) < 0.5) return undefined;
  const name = 'not in the file';
  return tokens > 0
    ? {
        row: { name, tokens },
        note: `${name}: unrecorded instructions and tools, hidden reasoning, overhead; the other rows are estimates`,
      }
    : {
        row: undefined,
        note: `the rows are of the file, which holds ${formatCount(-tokens)} tokens more than were sent: the agent or a proxy leaves things out, or the estimate is too high`,
      };
}
