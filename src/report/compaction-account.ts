import type { Fate } from '../compaction/plan/plan.ts';
import type { FateRun, Receipt } from '../compaction/plan/receipt.ts';
import { type Conversation, withMessages } from '../conversation/format.ts';
import { hasToolResult, type Message, textOf } from '../conversation/message.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import type { Survival } from '../memory/facts/facts.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { type Inspection, inspectConversation, type TokenPart, tokenParts } from './inspection.ts';

/** A compaction as a report tells it: what there was, what there is, and what became of every message. Plain data. */
export interface CompactionAccount {
  readonly strategy: string;
  /** Why the strategy did what it did, in its words. */
  readonly reason: string | undefined;
  readonly targetTokens: number | undefined;
  readonly before: ContextSize;
  readonly after: ContextSize;
  readonly runs: readonly AccountedRun[];
  /** What became of the facts in what a summary stands for; undefined when there is no summary. */
  readonly survival?: readonly Survival[] | undefined;
}

/** The size of a request and where its tokens go. */
export interface ContextSize {
  readonly tokens: number;
  readonly messages: number;
  readonly parts: readonly TokenPart[];
}

/** A run of the receipt, with the beginning of what it holds. */
export interface AccountedRun extends Omit<FateRun, 'handle'> {
  readonly about: string;
}

export interface AccountOptions {
  readonly estimator: TokenEstimator;
  /** What the request should have had afterwards. */
  readonly targetTokens?: number | undefined;
}

/** What a strategy answers with, as far as an account of it needs it. */
export interface AccountedOutcome {
  readonly conversation: Conversation;
  readonly receipt: Receipt;
  readonly reason: string;
}

/** How many tools are named; the others are summed up. */
const NAMED_TOOLS = 5;

/** How many runs are described: a page shows no more of them. */
export const ACCOUNTED_RUNS = 400;

/** Accounts for a compaction. Linear in the size of both conversations. */
export function accountForCompaction(
  before: Conversation,
  { conversation, receipt, reason }: AccountedOutcome,
  { estimator, targetTokens }: AccountOptions,
): CompactionAccount {
  const old = measure(before, estimator);
  const now = measure(conversation, estimator);
  return {
    strategy: receipt.strategy,
    reason,
    targetTokens,
    before: {
      tokens: receipt.tokensBefore,
      messages: receipt.messagesBefore,
      parts: partsOf(old, old.byTool),
    },
    after: {
      tokens: receipt.tokensAfter,
      messages: receipt.messagesAfter,
      parts: partsOf(now, inOrderOf(old, now)),
    },
    runs: receipt.runs.map((run, index) => describeRun(run, index, before.messages)),
    survival: receipt.survival,
  };
}

interface Measured extends Pick<Inspection, 'byClass' | 'byTool'> {
  /** Tokens of summaries that compactions have written; they count for no role. */
  readonly summaryTokens: number;
}

function measure(conversation: Conversation, estimator: TokenEstimator): Measured {
  const { messages } = conversation;
  const isSummary = (message: Message) => readSummaryMessage(message) !== undefined;
  const summaries = messages.filter(isSummary);
  const said = messages.filter((message) => !isSummary(message));
  const { byClass, byTool } = inspectConversation(withMessages(conversation, said), { estimator, top: 0 });
  return { byClass, byTool, summaryTokens: estimator.countMessages(summaries) };
}

function partsOf({ byClass, summaryTokens }: Measured, tools: Measured['byTool']): readonly TokenPart[] {
  const parts = tokenParts(byClass, tools, NAMED_TOOLS);
  if (summaryTokens === 0) return parts;
  return [...parts, { name: 'summary', isTool: false, tokens: summaryTokens, colour: 's5' }];
}

/** The tools of `now` in the order of `old`, so that each keeps its colour. */
function inOrderOf(old: Measured, now: Measured): Measured['byTool'] {
  const byName = new Map(now.byTool.map((use) => [use.tool, use]));
  return old.byTool.map(({ tool }) => byName.get(tool) ?? { tool, calls: 0, errors: 0, tokens: 0 });
}

function describeRun(run: FateRun, index: number, messages: readonly Message[]): AccountedRun {
  const { fate, start, end, tokens } = run;
  const about = index < ACCOUNTED_RUNS ? beginningOf(messages[start]) : '';
  return { fate, start, end, tokens, about };
}

function beginningOf(message: Message | undefined): string {
  if (message === undefined) return '';
  const isAnswer = hasToolResult(message);
  const words = message.blocks.map((block) =>
    block.type === 'tool-call' ? `called ${block.name}` : textOf(block).slice(0, 200) || block.type,
  );
  return `${isAnswer ? 'result' : message.role}: ${words.join(' · ').slice(0, 200)}`;
}

/** What became of messages, in words, in the order in which it is told. */
export const fateWords: Readonly<Record<Fate, string>> = {
  verbatim: 'unchanged',
  reduced: 'made smaller',
  summarised: 'in a summary',
  dropped: 'left out',
};
