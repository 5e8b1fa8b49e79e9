import { createChains, nameOfConversation } from '../src/conversation/chain.ts';
import { type Conversation, type Format, writeConversation } from '../src/conversation/format.ts';
import { sha256 } from '../src/conversation/sha256.ts';
import { findCheckpoint } from '../src/keeper/find-checkpoint.ts';
import { projectView } from '../src/keeper/project-view.ts';
import { readTurn } from '../src/keeper/turn.ts';
import { isWhole } from '../src/keeper/whole-list.ts';
import { memoryStore } from '../src/stores/memory.ts';
import type { Checkpoint } from '../src/stores/store.ts';
import { checkpointOf } from '../test/support/store-records.ts';
import { median } from './timing.ts';

/** What it takes to find the checkpoint of a request and to build its view, beside parsing and reading it. */
export interface CheckpointCosts {
  readonly parseMs: number;
  readonly readMs: number;
  /** With values that nobody has seen before. */
  readonly freshMs: number;
  /** On the next turn. */
  readonly nextMs: number;
}

export interface Body {
  readonly messages: readonly unknown[];
}

export interface CheckpointCase {
  readonly format: Format;
  readonly body: Body;
  /** What the next turn brings. */
  readonly more: readonly unknown[];
  readonly rounds: number;
}

const owner = { tenant: 'bench', configuration: 'bench', usage: undefined, signal: undefined };

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
 * Medians over the rounds. Garbage is collected when the process sees fit, as in any other, and falls on all calls alike.
 * Forced between the rounds, a collection would throw away what was compiled for shapes of which no object is alive just
 * then, and every round would begin with code that is not compiled yet; `node --trace-deopt` tells.
 */
export async function checkpointCosts({
  format,
  body: given,
  more,
  rounds,
}: CheckpointCase): Promise<CheckpointCosts> {
  const text = JSON.stringify(given);
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
    const [parseMs, body] = timed(() => JSON.parse(text) as Body);
    const [readMs, conversation] = timed(() => format.read(body));
    costs.parse.push(parseMs);
    costs.read.push(readMs);
    costs.fresh.push(await timeAsyncMs(() => view(conversation)));
    const later = format.read({ ...body, messages: [...body.messages, ...more] });
    costs.next.push(await timeAsyncMs(() => view(later)));
  }
  const { parse, read, fresh, next } = costs;
  return { parseMs: median(parse), readMs: median(read), freshMs: median(fresh), nextMs: median(next) };
}
