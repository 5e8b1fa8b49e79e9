import { changeOf, type Outcome, type StrategyContext } from '../../src/compaction/plan/strategy.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import type { Conversation } from '../../src/conversation/format.ts';
import { anthropicMessages } from '../../src/formats/anthropic-messages/format.ts';
import type { Summarizer, SummaryOutcome, SummaryRequest } from '../../src/memory/summary-request.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { strategyContext } from './strategy-context.ts';

/** One token for each character, three for each message. */
export const characters = createTokenEstimator({ countText: (text) => text.length });

export const task = { role: 'user', content: 'task' };
export const ask = { role: 'user', content: 'more' };

/** An answer with so many characters. */
export const answer = (length: number) => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'x'.repeat(length) }],
});

/** The task and rounds of 1000 tokens, each an answer and the next question. */
export const session = (rounds: number, length = 990): Conversation =>
  anthropicMessages.read([
    task,
    ...Array.from({ length: rounds }, () => [answer(length), { ...ask }]).flat(),
  ]);

/** So many calls of tools with results of about 1000 tokens, as Anthropic writes them. */
export const toolRounds = (count: number): readonly unknown[] =>
  Array.from({ length: count }, (_one, index) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'x'.repeat(980) }] },
  ]).flat();

/** The same in the format of chat completions. */
export const chatToolRounds = (count: number): readonly unknown[] =>
  Array.from({ length: count }, (_one, index) => {
    const call = { id: `t${index}`, type: 'function', function: { name: 'look', arguments: '{}' } };
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: `t${index}`, content: 'x'.repeat(980) },
    ];
  }).flat();

/** A summarizer that gives this answer and keeps what it was asked. */
export function recording(answered: Partial<SummaryOutcome> | ((request: SummaryRequest) => string) = {}) {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    name: 'recording',
    asksModel: false,
    async summarize(request) {
      requests.push(request);
      const text = typeof answered === 'function' ? answered(request) : 'summary';
      const given = typeof answered === 'function' ? {} : answered;
      return { status: 'summarized', text, usage: undefined, ...given } as SummaryOutcome;
    },
  };
  return { requests, summarizer };
}

/** Takes all the room it is given. */
export function filling(given: Partial<Summarizer> = {}) {
  const asked: number[] = [];
  const summarizer: Summarizer = {
    name: 'filling',
    asksModel: false,
    async summarize({ maximumTokens }) {
      asked.push(maximumTokens);
      const usage = { promptTokens: 1, outputTokens: 2 };
      return { status: 'summarized', text: 'x'.repeat(maximumTokens), usage };
    },
    ...given,
  };
  return { asked, summarizer };
}

export type RunContext = Partial<StrategyContext> & { readonly conversation?: Conversation };

/** Runs `summarize` over 20 rounds of 1000 tokens, for a target of 8000, unless told otherwise. */
export async function runSummarize(
  options: Readonly<Record<string, unknown>> = {},
  { conversation = session(20), ...given }: RunContext = {},
): Promise<Outcome> {
  const context = strategyContext({ estimator: characters, targetTokens: 8000, trigger: 'auto', ...given });
  return createStrategy('summarize', options).compact(conversation, context);
}

/** The messages of what a run made. */
export function madeBy(outcome: Outcome): Conversation['messages'] {
  const change = changeOf(outcome);
  if (change === undefined) throw new Error(`${outcome.reason}: nothing was made`);
  return change.conversation.messages;
}

/** How many messages are left, or why all are. */
export async function countLeft(...args: Parameters<typeof runSummarize>): Promise<number | string> {
  const outcome = await runSummarize(...args);
  return changeOf(outcome)?.conversation.messages.length ?? outcome.reason;
}
