/**
 * What it costs to find the checkpoint of a conversation and to build its view, against JSON.parse of the same body in the
 * same run: with values that nobody has seen before, as a proxy has them, and on the next turn of a loop that keeps them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Conversation, writeConversation } from '../src/conversation/format.ts';
import { createChains, nameOfConversation } from '../src/conversation/identity.ts';
import { sha256 } from '../src/conversation/sha256.ts';
import { anthropicMessages } from '../src/formats/anthropic-messages/format.ts';
import { findCheckpoint, readTurn } from '../src/keeper/checkpoints.ts';
import { projectView } from '../src/keeper/views.ts';
import { sqliteStore } from '../src/stores/sqlite.ts';
import type { Checkpoint } from '../src/stores/store.ts';
import { checkpointOf } from '../test/support/store-records.ts';
import { roundOf, sessionBody } from './session-body.ts';
import { median, printGoals } from './timing.ts';

const CHARACTERS = 400;
const FORMAT = anthropicMessages;
/** Every call is answered. */
const MESSAGES_PER_MILLION_TOKENS = 10_001;
const owner = { tenant: 'bench', configuration: 'bench', usage: undefined, signal: undefined };

/** A checkpoint over the first nine tenths of a conversation. */
function longCheckpoint(conversation: Conversation): Checkpoint {
  const { chain, cuts } = readTurn(conversation, createChains({ hash: sha256 }), owner);
  const boundary = cuts.find((cut) => cut >= chain.length * 0.9) ?? 0;
  const raw = { role: 'user', content: 'a summary of what was said '.repeat(1000) };
  return checkpointOf({
    tenant: owner.tenant,
    configuration: owner.configuration,
    conversation: nameOfConversation(chain),
    chain: chain.linkAt(boundary),
    boundary,
    parts: [
      { from: 0, count: 1 },
      { raw, of: [{ start: 1, end: boundary }] },
    ],
  });
}

/** Medians over the rounds. Garbage is collected when the process sees fit, as in any other, and falls on all alike. */
async function measure(messages: number, rounds: number) {
  const text = JSON.stringify(sessionBody(FORMAT.name, messages, CHARACTERS));
  const more = roundOf(FORMAT.name, messages, CHARACTERS);
  const folder = mkdtempSync(join(tmpdir(), 'roundfold-bench-'));
  const store = sqliteStore({ path: join(folder, 'store.sqlite') });
  await store.restore({ checkpoint: longCheckpoint(FORMAT.read(JSON.parse(text))) });
  const parse: number[] = [];
  const first: number[] = [];
  const next: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const chains = createChains({ hash: sha256 });
    let known: Checkpoint | undefined;
    const view = async (conversation: Conversation) => {
      const start = performance.now();
      const turn = readTurn(conversation, chains, owner);
      known = await findCheckpoint(store, { ...turn, known });
      if (known === undefined) throw new Error('the checkpoint was not found');
      writeConversation(projectView(conversation, known, { head: turn.chain.head }));
      return performance.now() - start;
    };
    const start = performance.now();
    const body = JSON.parse(text) as ReturnType<typeof sessionBody>;
    parse.push(performance.now() - start);
    first.push(await view(FORMAT.read(body)));
    next.push(await view(FORMAT.read({ ...body, messages: [...body.messages, ...more] })));
  }
  await store.close();
  rmSync(folder, { recursive: true });
  return { parseMs: median(parse), firstMs: median(first), nextMs: median(next) };
}

await measure(MESSAGES_PER_MILLION_TOKENS, 20);
const million = await measure(MESSAGES_PER_MILLION_TOKENS, 60);
const four = await measure(4 * (MESSAGES_PER_MILLION_TOKENS - 1) + 1, 15);
for (const [size, { parseMs, firstMs, nextMs }] of [
  ['1M', million],
  ['4M', four],
] as const) {
  console.log(
    `about ${size} tokens: JSON.parse ${parseMs.toFixed(1)} ms, chain + find + view ${firstMs.toFixed(1)} ms, next turn ${nextMs.toFixed(2)} ms`,
  );
}
const isFine = printGoals([
  {
    name: 'chain + find + view of new values ÷ JSON.parse',
    measured: million.firstMs / million.parseMs,
    atMost: 3,
  },
  {
    name: 'the same on the next turn ÷ JSON.parse',
    measured: million.nextMs / million.parseMs,
    atMost: 0.1,
  },
  { name: 'four times the history', measured: four.firstMs / million.firstMs, atMost: 5.2 },
]);
process.exitCode = isFine ? 0 : 1;
