import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createObservation } from '../../src/proxy/observe/observation.ts';
import { type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { openStore } from '../../src/stores/registry.ts';
import { type Agent, createAgent, type Json } from '../support/anthropic-agent.ts';
import { newDatabases } from '../support/new-databases.ts';
import { untilResults } from '../support/proxied.ts';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** What one proxy has learnt of a wish is at most a second old. */
const untilKnown = () => wait(1100);

const stores = newDatabases();

interface Detail {
  readonly id: string;
  readonly foldList: readonly { readonly id: string; readonly chain: string; readonly parent?: string }[];
  readonly wishes: { readonly foldedUpTo?: number; readonly pinned: readonly number[] };
}

/** A proxy with a dashboard, and a client that goes on with any list of messages. */
class Instance {
  readonly proxy: RunningProxy;
  constructor(proxy: RunningProxy) {
    this.proxy = proxy;
  }

  /** One request of a conversation that others serve as well; the checkpoint that the answer names. */
  async step(agent: Agent): Promise<string | null> {
    const here = createAgent(this.proxy.url, agent.messages);
    const response = await here.step({ characters: 900 });
    expect(response.status).toBe(200);
    agent.messages.splice(0, Number.POSITIVE_INFINITY, ...here.messages);
    await this.proxy.settle();
    return response.headers.get('x-roundfold-checkpoint');
  }

  async untilFolds(agent: Agent, folds: number): Promise<string> {
    const named = new Set<string>();
    for (let step = 0; step < 200; step++) {
      const checkpoint = await this.step(agent);
      if (checkpoint !== null) named.add(checkpoint);
      if (checkpoint !== null && named.size === folds) return checkpoint;
    }
    throw new Error(`${named.size} folds in 200 steps`);
  }

  /** The conversation that was served last. */
  async shown(): Promise<Detail> {
    const list = await this.#api<{ conversations: readonly { id: string }[] }>('conversations');
    return this.#api<Detail>(`conversations/${list.conversations[0]?.id}`);
  }

  async act(id: string, action: string, body: object): Promise<number> {
    const response = await fetch(`${this.proxy.url}/roundfold/api/conversations/${id}/${action}`, {
      method: 'POST',
      headers: { 'x-roundfold-action': '1', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.status;
  }

  async #api<Value>(path: string): Promise<Value> {
    const response = await fetch(`${this.proxy.url}/roundfold/api/${path}`);
    expect(response.status, path).toBe(200);
    return (await response.json()) as Value;
  }
}

async function start(address: string, simulator: Simulator): Promise<Instance> {
  const store = openStore(address);
  const { observer, pages, wishesOf } = await createObservation({ store });
  const proxy = await startProxy({
    ...{ store, observer, pages, wishesOf },
    upstreams: [{ url: simulator.url }],
    windowTokens: 32_000,
    // An undone fold is sent whole again: there has to be room for that.
    trigger: 0.5,
  });
  ends.push(() => store.close());
  ends.push(() => proxy.close());
  return new Instance(proxy);
}

async function simulate(): Promise<Simulator> {
  const simulator = await startSimulator({ windowTokens: 64_000, script: untilResults(10_000) });
  ends.push(() => simulator.close());
  return simulator;
}

const begin = (...messages: readonly Json[]) =>
  createAgent('', [{ role: 'user', content: 'Read all files and report.' }, ...messages]);

describe.each(stores)('two proxies on one store in %s', (_name, addressOf) => {
  it('both hold to a fold that was undone in the dashboard of one, and to its use in that of the other', async () => {
    const address = await addressOf();
    const simulator = await simulate();
    const here = await start(address, simulator);
    const there = await start(address, simulator);
    const agent = begin();
    const newest = await here.untilFolds(agent, 3);
    expect(await there.step(agent)).toBe(newest);
    const { id, foldList } = await here.shown();
    const undone = foldList.find(({ chain }) => chain === newest);
    expect(undone?.parent).toBeDefined();

    expect(await here.act(id, 'undo', { fold: undone?.id })).toBe(200);
    expect(await here.step(agent)).toBe(undone?.parent);
    await untilKnown();
    expect(await there.step(agent)).toBe(undone?.parent);
    const shownThere = await there.shown();
    expect(shownThere.wishes.foldedUpTo).toBeGreaterThan(0);

    expect(await there.act(shownThere.id, 'redo', {})).toBe(200);
    expect(await there.step(agent)).toBe(newest);
    await untilKnown();
    expect(await here.step(agent)).toBe(newest);
  });

  it('both keep a message that was pinned in the dashboard of one, also after a restart', async () => {
    const address = await addressOf();
    const simulator = await simulate();
    const here = await start(address, simulator);
    const there = await start(address, simulator);
    const agent = begin({ role: 'assistant', content: 'Which?' }, { role: 'user', content: 'All of them.' });
    await here.untilFolds(agent, 2);
    await there.step(agent);
    // A result of the beginning: question, answer, question, call, result.
    const place = 4;
    const pinned = JSON.stringify(agent.messages[place]);
    const isSent = () => JSON.stringify(simulator.requests.at(-1)?.body).includes(pinned);
    expect(isSent()).toBe(false);

    expect(await here.act((await here.shown()).id, 'pin', { place })).toBe(200);
    await untilKnown();
    // It is folded anew by whoever gets the next request, and used by both.
    for (let step = 0; step < 3; step++) await there.step(agent);
    expect(isSent()).toBe(true);
    expect((await there.shown()).wishes.pinned).toEqual([place]);
    await here.step(agent);
    expect(isSent()).toBe(true);

    const restarted = await start(address, simulator);
    await restarted.step(agent);
    expect(isSent()).toBe(true);
  });

  it('leave a conversation alone that only begins like the one whose fold was undone', async () => {
    const address = await addressOf();
    const here = await start(address, await simulate());
    const one = begin();
    const other = begin({ role: 'assistant', content: 'Why?' }, { role: 'user', content: 'Because.' });
    const mine = await here.untilFolds(one, 1);
    const theirs = await here.untilFolds(other, 1);
    await here.step(one);
    const { id, foldList } = await here.shown();
    expect(foldList.map(({ chain }) => chain)).toEqual([mine]);

    expect(await here.act(id, 'undo', { fold: foldList[0]?.id })).toBe(200);
    expect(await here.step(one)).toBeNull();
    expect(await here.step(other)).toBe(theirs);
  });
});
