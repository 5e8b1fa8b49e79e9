/** What planning and applying the default ladder costs, against JSON.parse of the same body in the same run. */

import { createStrategy } from '../src/compaction/strategies/registry.ts';
import { findFormat } from '../src/formats/registry.ts';
import { createTokenEstimator } from '../src/tokens/estimator.ts';
import { requestTokens } from '../src/tokens/measure.ts';
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

interface Body {
  readonly messages: number;
  readonly text: string;
}

function bodyOf(messages: number): Body {
  return { messages, text: JSON.stringify(sessionBody('anthropic-messages', messages, 400)) };
}

/** The conversation is counted before: what it costs to read and count is measured elsewhere. */
async function measureOnce({ messages, text }: Body): Promise<Costs> {
  const format = findFormat('anthropic-messages')!;
  const ladder = createStrategy('ladder');
  let body: { messages: unknown[] } = { messages: [] };
  const parseMs = timeMs(() => {
    body = JSON.parse(text) as typeof body;
  });
  const estimator = createTokenEstimator();
  const conversation = format.read(body);
  const targetTokens = requestTokens(conversation, estimator) / 2;
  const context = strategyContext({ estimator, targetTokens, trigger: 'auto' });
  const firstMs = await timeAsyncMs(() => ladder.compact(conversation, context));
  const grown = format.read({
    ...body,
    messages: [...body.messages, ...roundOf('anthropic-messages', messages, 400)],
  });
  const laterMs = await timeAsyncMs(() => ladder.compact(grown, context));
  return { parseMs, firstMs, laterMs };
}

async function measureTimes(body: Body, times: number): Promise<Costs[]> {
  const costs: Costs[] = [];
  for (let time = 0; time < times; time++) costs.push(await measureOnce(body));
  return costs;
}

function medians(costs: readonly Costs[]): Costs {
  return {
    parseMs: median(costs.map((cost) => cost.parseMs)),
    firstMs: median(costs.map((cost) => cost.firstMs)),
    laterMs: median(costs.map((cost) => cost.laterMs)),
  };
}

const tenThousand = bodyOf(10_000);
// An agent calls this every turn, so it is the warm state that counts; JSON.parse is compiled from the beginning.
await measureTimes(tenThousand, 25);
const alone = medians(await measureTimes(tenThousand, 25));
const hundredThousand = bodyOf(100_000);
const small: Costs[] = [];
const large: Costs[] = [];
// Growth is measured in turns: a machine that becomes slower meanwhile becomes slower for both sizes, and
// neither pays for the garbage of the other.
for (let round = 0; round < 9; round++) {
  collectGarbage();
  small.push(...(await measureTimes(tenThousand, 4)));
  collectGarbage();
  large.push(await measureOnce(hundredThousand));
}
const growth = medians(large).firstMs / medians(small).firstMs;
console.log(
  `10,000 messages: JSON.parse ${alone.parseMs.toFixed(1)} ms, ladder ${alone.firstMs.toFixed(1)} ms, later ${alone.laterMs.toFixed(1)} ms`,
);
const isFine = printGoals([
  { name: 'C1 ladder on 10,000 messages ÷ JSON.parse', measured: alone.firstMs / alone.parseMs, atMost: 1 },
  { name: 'C2 the same on a later call ÷ JSON.parse', measured: alone.laterMs / alone.parseMs, atMost: 0.15 },
  { name: 'C3 ten times the messages', measured: growth, atMost: 13 },
]);
process.exitCode = isFine ? 0 : 1;
