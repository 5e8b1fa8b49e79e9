/** What planning and applying the default ladder costs, against JSON.parse of the same body in the same run. */
import { requestTokens } from '../src/core/receipt.ts';
import { createTokenEstimator } from '../src/core/token-estimator.ts';
import { findFormat } from '../src/formats/registry.ts';
import { createStrategy } from '../src/strategies/registry.ts';
import { strategyContext } from '../test/support/strategy-context.ts';
import { roundOf, sessionBody } from './session-body.ts';
import { collectGarbage, median, printGoals, timeMs } from './timing.ts';

interface Costs {
  readonly parseMs: number;
  readonly firstMs: number;
  readonly laterMs: number;
}

async function timeAsyncMs(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** The conversation is counted before: what it costs to read and count is measured elsewhere. */
async function measure(messages: number, rounds: number): Promise<Costs> {
  const text = JSON.stringify(sessionBody('anthropic-messages', messages, 400));
  const ladder = createStrategy('ladder');
  const format = findFormat('anthropic-messages')!;
  const costs: { parse: number[]; first: number[]; later: number[] } = { parse: [], first: [], later: [] };
  for (let round = 0; round < rounds; round++) {
    let body: { messages: unknown[] } = { messages: [] };
    collectGarbage();
    costs.parse.push(
      timeMs(() => {
        body = JSON.parse(text) as typeof body;
      }),
    );
    const estimator = createTokenEstimator();
    const conversation = format.read(body);
    const targetTokens = requestTokens(conversation, estimator) / 2;
    const context = strategyContext({ estimator, targetTokens, trigger: 'auto' });
    collectGarbage();
    costs.first.push(await timeAsyncMs(() => ladder.compact(conversation, context)));
    const grown = format.read({
      ...body,
      messages: [...body.messages, ...roundOf('anthropic-messages', messages, 400)],
    });
    collectGarbage();
    costs.later.push(await timeAsyncMs(() => ladder.compact(grown, context)));
  }
  return { parseMs: median(costs.parse), firstMs: median(costs.first), laterMs: median(costs.later) };
}

// An agent calls this every turn, so it is the warm state that counts; JSON.parse is compiled from the beginning.
await measure(10_000, 25);
const small = await measure(10_000, 25);
const large = await measure(100_000, 7);
console.log(
  `10,000 messages: JSON.parse ${small.parseMs.toFixed(1)} ms, ladder ${small.firstMs.toFixed(1)} ms, later ${small.laterMs.toFixed(1)} ms`,
);
const isFine = printGoals([
  { name: 'C1 ladder on 10,000 messages ÷ JSON.parse', measured: small.firstMs / small.parseMs, atMost: 1 },
  { name: 'C2 the same on a later call ÷ JSON.parse', measured: small.laterMs / small.parseMs, atMost: 0.15 },
  { name: 'C3 ten times the messages', measured: large.firstMs / small.firstMs, atMost: 13 },
]);
process.exitCode = isFine ? 0 : 1;
