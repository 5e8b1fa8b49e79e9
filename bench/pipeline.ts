/**
 * What it costs to read, group and count a conversation, against JSON.parse of its body in the same run: the first
 * time, on the next turn (one round more), and as it grows.
 */

import { groupRounds } from '../src/conversation/rounds.ts';
import { findFormat } from '../src/formats/registry.ts';
import { createTokenEstimator, type TokenEstimator } from '../src/tokens/estimator.ts';
import { measureContext } from '../src/tokens/measure.ts';
import { roundOf, sessionBody } from './session-body.ts';
import { type Goal, median, medianMs, printGoals, timeMs } from './timing.ts';

function work(formatName: string, body: unknown, estimator: TokenEstimator): number {
  const conversation = findFormat(formatName)!.read(body);
  return groupRounds(conversation.messages).length + measureContext(conversation, estimator).tokens;
}

interface Costs {
  readonly parseMs: number;
  readonly firstMs: number;
  readonly nextMs: number;
}

/** First-time costs need values nobody has seen: every round parses the body anew. */
function measure(format: string, messages: number, rounds: number): Costs {
  const text = JSON.stringify(sessionBody(format, messages, 400));
  const parses: number[] = [];
  const firsts: number[] = [];
  const nexts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let body: { messages: unknown[] } = { messages: [] };
    parses.push(
      timeMs(() => {
        body = JSON.parse(text) as typeof body;
      }),
    );
    const estimator = createTokenEstimator();
    firsts.push(timeMs(() => void work(format, body, estimator)));
    const later = { ...body, messages: [...body.messages, ...roundOf(format, messages, 400)] };
    nexts.push(timeMs(() => void work(format, later, estimator)));
  }
  return { parseMs: median(parses), firstMs: median(firsts), nextMs: median(nexts) };
}

const goals: Goal[] = [];
for (const format of ['anthropic-messages', 'openai-chat']) {
  medianMs(3, () => void measure(format, 500, 1));
  const { parseMs, firstMs, nextMs } = measure(format, 10_000, 15);
  console.log(
    `${format}: JSON.parse ${parseMs.toFixed(1)} ms, first ${firstMs.toFixed(1)} ms, next turn ${nextMs.toFixed(2)} ms`,
  );
  goals.push({ name: `${format}, first time ÷ JSON.parse`, measured: firstMs / parseMs, atMost: 3 });
  goals.push({ name: `${format}, next turn ÷ JSON.parse`, measured: nextMs / parseMs, atMost: 0.2 });
}

const sizes = [10_000, 100_000, 1_000_000];
const perMessage = sizes.map(
  (messages) => measure('anthropic-messages', messages, messages > 100_000 ? 1 : 3).firstMs / messages,
);
console.log(
  `first time per message: ${sizes.map((size, index) => `${size}: ${((perMessage[index] ?? 0) * 1000).toFixed(2)} µs`).join(', ')}`,
);
goals.push({
  name: 'growth per message from 10,000 to 1,000,000',
  measured: (perMessage[2] ?? 0) / (perMessage[0] ?? 1),
  atMost: 2.5,
});

process.exitCode = printGoals(goals) ? 0 : 1;
