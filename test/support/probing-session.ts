import { findContract } from '../../src/contracts/registry.ts';
import type { Summarizer, SummaryOutcome } from '../../src/memory/summary-request.ts';

/** So many words, others for each seed. */
export const words = (count: number, seed = 0): string =>
  Array.from({ length: count }, (_, index) => `word${(index * 7 + seed) % 97}`).join(' ');

/** One question and so many rounds of a call and its result. */
export function session(rounds: number, size = 120): unknown[] {
  const messages: unknown[] = [{ role: 'user', content: 'Mend the kiln. Never open the valve.' }];
  for (let round = 0; round < rounds; round++) messages.push(...callAndResult(round, size));
  return messages;
}

/** A call and its result. */
export function callAndResult(round: number, size = 120): unknown[] {
  const id = `toolu_${round}`;
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'probe', input: { round } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: words(size, round) }] },
  ];
}

/** A summary that was paid for. */
export const good = (text: string): SummaryOutcome => ({
  status: 'summarized',
  text,
  usage: { promptTokens: 10, outputTokens: 5 },
});

/** A summarizer that answers as it is told, and how many messages it was shown each time. */
export function scripted(answer: (call: number, input: number) => SummaryOutcome): {
  readonly summarizer: Summarizer;
  readonly calls: readonly number[];
} {
  const calls: number[] = [];
  const summarizer: Summarizer = {
    name: 'scripted',
    asksModel: true,
    summarize: async ({ messages }) => {
      calls.push(messages.length);
      return answer(calls.length, messages.length);
    },
  };
  return { summarizer, calls };
}

/** What the provider would refuse. */
export const errorsOf = (value: unknown): readonly unknown[] =>
  findContract('anthropic-messages')
    ?.check(value, { scope: 'messages' })
    .filter(({ severity }) => severity === 'error') ?? ['no contract'];
