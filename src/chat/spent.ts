import { asCount, isObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';

/** What a chat has taken so far. Plain data. */
export interface Spent {
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Of models that wrote summaries: beside the requests of the chat itself. */
  readonly summaries: Usage;
}

export const nothingSpent: Spent = {
  requests: 0,
  promptTokens: 0,
  outputTokens: 0,
  summaries: { promptTokens: 0, outputTokens: 0 },
};

export function addRequest(spent: Spent, usage: Usage): Spent {
  return { ...spent, ...sum(spent, usage), requests: spent.requests + 1 };
}

export function addSummary(spent: Spent, usage: Usage | undefined): Spent {
  return usage === undefined ? spent : { ...spent, summaries: sum(spent.summaries, usage) };
}

/** What was saved; nothing where there is nothing to read. */
export function readSpent(value: unknown): Spent {
  if (!isObject(value)) return nothingSpent;
  const summaries = isObject(value['summaries']) ? value['summaries'] : {};
  return { requests: asCount(value['requests']), ...readTokens(value), summaries: readTokens(summaries) };
}

function readTokens(value: Readonly<Record<string, unknown>>): Usage {
  return { promptTokens: asCount(value['promptTokens']), outputTokens: asCount(value['outputTokens']) };
}

function sum(one: Usage, other: Usage): Usage {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}
