import { expect } from 'vitest';
import type { Compacted } from '../../src/compaction/strategies/index.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { readSummaryMessage } from '../../src/conversation/index.ts';
import {
  type Conversation,
  createTokenEstimator,
  type Outcome,
  readConversation,
  type Summarizer,
  type SummaryRequest,
} from '../../src/index.ts';
import { deepFreeze } from './deep-freeze.ts';
import { messagesOfShape } from './shapes.ts';
import { countingSummarizer } from './strategy-context.ts';

/** One token for each character, three for each message. */
export const estimator = createTokenEstimator({ countText: (text) => text.length });

/** A frozen list of messages in Anthropic's wire format. */
export function anthropic(value: unknown): Conversation {
  return readConversation(deepFreeze(value), 'anthropic-messages');
}

/** A conversation of one letter per message, each with more text behind its own. */
export function shaped(shape: string, more = ''): Conversation {
  return anthropic(rawsOf({ messages: messagesOfShape(shape, more) }));
}

/** A call and its result of so many tokens. */
export function toolRound(id: string, size = 500, name = 'ask_expert'): readonly unknown[] {
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(size) }] },
  ];
}

/** One question and so many tool rounds. */
export function toolSession(rounds: number, size?: number): Conversation {
  const list = Array.from({ length: rounds }, (_one, index) => toolRound(`t${index}`, size)).flat();
  return anthropic([{ role: 'user', content: 'the task' }, ...list]);
}

/** A summarizer that keeps what it was asked. */
export function recording(answer: (request: SummaryRequest) => string = () => 'what happened') {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    ...countingSummarizer,
    async summarize(request) {
      requests.push(request);
      return { status: 'summarized', text: answer(request), usage: undefined };
    },
  };
  return { requests, summarizer };
}

export function rawsOf({ messages }: Pick<Conversation, 'messages'>): readonly unknown[] {
  return messages.map(({ raw }) => raw);
}

export function summariesIn({ messages }: Conversation): readonly string[] {
  return messages.map(readSummaryMessage).filter((summary) => summary !== undefined);
}

export function expectCompacted(outcome: Outcome): Compacted {
  expect(outcome).toMatchObject({ status: 'compacted' });
  if (outcome.status !== 'compacted') throw new Error(outcome.message);
  return outcome;
}

/** How many rules of the provider a value breaks. */
export function errorsOf({ format }: Conversation, value: unknown): number {
  const violations = findContract(format.name)?.check(value, { scope: 'messages' }) ?? [];
  return violations.filter(({ severity }) => severity === 'error').length;
}
