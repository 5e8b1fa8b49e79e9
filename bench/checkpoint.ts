/**
 * What it costs to find the checkpoint of a conversation and to build its view, against JSON.parse of the same body in the
 * same run: with values that nobody has seen before, as a proxy has them, and on the next turn of a loop that keeps them.
 */
import { sha256 } from '../src/config/sha256.ts';
import { createChains, nameOfConversation } from '../src/core/chain.ts';
import type { Checkpoint } from '../src/core/checkpoint.ts';
import { readTurn } from '../src/core/engine/turn.ts';
import { findCheckpoint } from '../src/core/find-checkpoint.ts';
import { type Conversation, writeConversation } from '../src/core/format.ts';
import { projectView } from '../src/core/project-view.ts';
import { isWhole } from '../src/core/whole-list.ts';
import { findFormat } from '../src/formats/registry.ts';
import { memoryStore } from '../src/stores/memory.ts';
import { checkpointOf } from '../test/support/store-records.ts';
import { roundOf, sessionBody } from './session-body.ts';
import { median, printGoals } from './timing.ts';

const FORMAT = 'anthropic-messages';
const CHARACTERS = 400;
/** Every call is answered. */
const MESSAGES_PER_MILLION_TOKENS = 10_001;
const format = findFormat(FORMAT)!;

interface Costs {
  readonly parseMs: number;
  readonly readMs: number;
  readonly freshMs: number;
  readonly nextMs: number;
}

/** A checkpoint over the first nine tenths of a conversation. */
function longCheckpoint(conversation: Conversation): Checkpoint {
  const { chain, cuts } = readTurn(conversation, createChains({ hash: sha256 }), owner);
  const boundary = cuts.all().find((cut) => cut >= chain.length * 0.9)!;
  const raw = { role: 'user', content: 'a summary of what was said '.repeat(1000) };
  return checkpointOf({
    tenant: owner.tenant,
    configuration: owner.configuration,
    conversation: nameOfConversation(chain),
    chain: chain.linkAt(boundary),
    boundary,
    isWhole: isWhole(conversation.messages.slice(0, chain.head + boundary)),
    parts: [
      { from: 0, count: 1 },
      { raw, of: [{ start: 1, end: boundary }] },
    ],
  });
}

const owner = { tenant: 'bench', configuration: 'bench', usage: undefined, signal: undefined };

/** How long it takes, and what comes of it. */
function timed<Value>(run: () => Value): readonly [milliseconds: number, value: Value] {
  const start = performance.now();
  const value = run();
  return [performance.now() - start, value];
}

async function timeAsyncMs(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/**
 * Garbage is collected when the process sees fit, as in any other, and falls on all calls alike. Forced between the rounds,
 * a collection would throw away what was compiled for shapes of which no object is alive just then, and every round would
 * begin with code that is not compiled yet; `node --trace-deopt` tells.
 */
async function measure(messages: number, rounds: number): Promise<Costs> {
  const text = JSON.stringify(sessionBody(FORMAT, messages, CHARACTERS));
  const store = memoryStore();
  await store.restore({ checkpoint: longCheckpoint(format.read(JSON.parse(text))) });
  const costs: Record<'parse' | 'read' | 'fresh' | 'next', number[]> = {
    parse: [],
    read: [],
    fresh: [],
    next: [],
  };
  for (let round = 0; round < rounds; round++) {
    const chains = createChains({ hash: sha256 });
    let known: Checkpoint | undefined;
    const view = async (conversation: Conversation) => {
      const turn = readTurn(conversation, chains, owner);
      known = await findCheckpoint(store, { ...turn, known });
      if (known === undefined) throw new Error('the checkpoint was not found');
      writeConversation(projectView(conversation, known, { head: turn.chain.head }));
    };
    const [parseMs, body] = timed(() => JSON.parse(text) as { readonly messages: readonly unknown[] });
    const [readMs, conversation] = timed(() => format.read(body));
    costs.parse.push(parseMs);
    costs.read.push(readMs);
    costs.fresh.push(await timeAsyncMs(() => view(conversation)));
    const later = format.read({
      ...body,
      messages: [...body.messages, ...roundOf(FORMAT, messages, CHARACTERS)],
    });
    costs.next.push(await timeAsyncMs(() => view(later)));
  }
  const { parse, read, fresh, next } = costs;
  return { parseMs: median(parse), readMs: median(read), freshMs: median(fresh), nextMs: median(next) };
}

await measure(MESSAGES_PER_MILLION_TOKENS, 20);
const million = await measure(MESSAGES_PER_MILLION_TOKENS, 60);
const four = await measure(4 * (MESSAGES_PER_MILLION_TOKENS - 1) + 1, 15);
const told = ({ parseMs, readMs, freshMs, nextMs }: Costs) =>
  `JSON.parse ${parseMs.toFixed(1)} ms, reading ${readMs.toFixed(1)} ms, chain + find + view ${freshMs.toFixed(1)} ms, next turn ${nextMs.toFixed(2)} ms`;
console.log(`about 1M tokens: ${told(million)}`);
console.log(`about 4M tokens: ${told(four)}`);
const isFine = printGoals([
  {
    name: 'K1 chain + find + view of new values ÷ JSON.parse',
    measured: million.freshMs / million.parseMs,
    atMost: 1,
  },
  {
    name: 'K2 the same on the next turn ÷ JSON.parse',
    measured: million.nextMs / million.parseMs,
    atMost: 0.1,
  },
  { name: 'K3 four times the history', measured: four.freshMs / million.freshMs, atMost: 5.2 },
]);
process.exitCode = isFine ? 0 : 1;
