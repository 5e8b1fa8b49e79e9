/**
 * What it costs to find the checkpoint of a conversation and to build its view, against JSON.parse of the same body in the
 * same run: with values that nobody has seen before, as a proxy has them, and on the next turn of a loop that keeps them.
 */
import { findFormat } from '../src/formats/registry.ts';
import { type CheckpointCosts, checkpointCosts } from './checkpoint-costs.ts';
import { roundOf, sessionBody } from './session-body.ts';
import { printGoals } from './timing.ts';

const FORMAT = 'anthropic-messages';
const CHARACTERS = 400;
/** Every call is answered. */
const MESSAGES_PER_MILLION_TOKENS = 10_001;

function measure(messages: number, rounds: number): Promise<CheckpointCosts> {
  const body = sessionBody(FORMAT, messages, CHARACTERS);
  return checkpointCosts({
    format: findFormat(FORMAT)!,
    body,
    more: roundOf(FORMAT, messages, CHARACTERS),
    rounds,
  });
}

await measure(MESSAGES_PER_MILLION_TOKENS, 20);
const million = await measure(MESSAGES_PER_MILLION_TOKENS, 60);
const four = await measure(4 * (MESSAGES_PER_MILLION_TOKENS - 1) + 1, 15);
const told = ({ parseMs, readMs, freshMs, nextMs }: CheckpointCosts) =>
  `JSON.parse ${parseMs.toFixed(1)} ms, reading ${readMs.toFixed(1)} ms, chain + find + view ${freshMs.toFixed(1)} ms, next turn ${nextMs.toFixed(2)} ms`;
console.log(`about 1M tokens: ${told(million)}`);
console.log(`about 4M tokens: ${told(four)}`);
const isFine = printGoals([
  {
    name: 'K1 chain + find + view of new values ÷ JSON.parse',
    measured: million.freshMs / million.parseMs,
    atMost: 3,
  },
  {
    name: 'K2 the same on the next turn ÷ JSON.parse',
    measured: million.nextMs / million.parseMs,
    atMost: 0.1,
  },
  { name: 'K3 four times the history', measured: four.freshMs / million.freshMs, atMost: 5.2 },
]);
process.exitCode = isFine ? 0 : 1;
