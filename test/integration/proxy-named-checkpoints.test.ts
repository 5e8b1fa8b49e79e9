import { afterEach, describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createAgent } from '../support/anthropic-agent.ts';
import { type Proxied, startProxied, untilResults } from '../support/proxied.ts';

const running: Proxied[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});

/** A store whose commits do what they are told to. */
function withCommit(store: Store, commit: Store['commit']): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'commit') return commit;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function serve(store: Store) {
  const proxied = await startProxied(
    { windowTokens: 40_000, script: untilResults(1000) },
    { store, windowTokens: 20_000 },
  );
  running.push(proxied);
  const agent = createAgent(proxied.proxy.url, [{ role: 'user', content: 'Read all files and report.' }]);
  const namedInFolded = async (): Promise<string | null> => {
    for (let step = 0; step < 100; step++) {
      const { headers } = await agent.step();
      if (headers.get('x-roundfold-status') === 'folded') return headers.get('x-roundfold-checkpoint');
    }
    throw new Error('nothing was folded');
  };
  return { proxied, namedInFolded };
}

async function storedIn(store: Store): Promise<readonly string[]> {
  const found = await Promise.all((await store.list()).map((each) => store.checkpoints(each)));
  return found.flat().map(({ chain }) => chain);
}

describe('the checkpoint that an answer names', () => {
  it('is one that the store has: while a store is slow to take it, its view is sent without a name', async () => {
    const store = memoryStore();
    const gate = Promise.withResolvers<void>();
    const slow = withCommit(store, async (commit) => {
      await gate.promise;
      return store.commit(commit);
    });
    const { proxied, namedInFolded } = await serve(slow);

    expect(await namedInFolded()).toBeNull();
    expect(await namedInFolded()).toBeNull();
    expect(await storedIn(store)).toEqual([]);
    // The account still tells one view from the next.
    expect(proxied.records.at(-1)?.checkpoint).toMatch(/^[0-9a-f]{64}$/);

    gate.resolve();
    await proxied.proxy.settle();
    const named = await namedInFolded();
    expect(await storedIn(store)).toContain(named);
    expect(named).toBe(proxied.records.at(-1)?.checkpoint);
  });

  it('gets its name as soon as a store that failed has taken it', async () => {
    const store = memoryStore();
    let isBroken = true;
    const failing = withCommit(store, async (commit) => {
      if (isBroken) throw new Error('the disk is full');
      return store.commit(commit);
    });
    const { proxied, namedInFolded } = await serve(failing);

    expect(await namedInFolded()).toBeNull();
    await proxied.proxy.settle();
    expect(await namedInFolded()).toBeNull();
    await proxied.proxy.settle();
    isBroken = false;
    // This request has it stored, the next one may name it.
    await namedInFolded();
    await proxied.proxy.settle();
    expect(await storedIn(store)).toContain(await namedInFolded());
  });
});
