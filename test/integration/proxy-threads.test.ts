import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { createAgent } from '../support/anthropic-agent.ts';
import { type Proxied, startProxied, untilResults } from '../support/proxied.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
let files = 0;
const newFile = () => join(folder.path, `store-${++files}.sqlite`);
const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

const WINDOW = 60_000;
const START = [{ role: 'user', content: 'Read all files and report.' }];

async function start(address: string, windowTokens?: number): Promise<Proxied> {
  const store = sqliteStore({
    path: address === '' ? newFile() : address,
  });
  running.push(store);
  const proxied = await startProxied(
    { windowTokens: WINDOW, script: untilResults(10_000) },
    { store, threads: { address }, ...(windowTokens === undefined ? {} : { windowTokens }) },
  );
  running.push(proxied);
  return proxied;
}

describe('conversations that are folded in other threads', () => {
  it('are folded as in one, with what the provider reported and with all events', async () => {
    const { proxy, records, events, simulator } = await start(newFile(), WINDOW);
    const agents = ['first', 'second', 'third'].map((name) =>
      createAgent(proxy.url, [{ role: 'user', content: `This is the ${name} task.` }]),
    );
    // Beyond the size that a thread of its own begins at.
    await Promise.all(agents.map((agent) => agent.work(70, { characters: 3000 })));
    expect(simulator.requests.filter(({ status }) => status !== 200)).toEqual([]);
    const folded = records.filter(({ status }) => status === 'folded');
    expect(folded.length).toBeGreaterThan(30);
    expect(new Set(folded.map(({ conversation }) => conversation)).size).toBe(3);
    expect(folded.every(({ tokensSent = 0, tokensReceived = 0 }) => tokensSent < tokensReceived)).toBe(true);
    expect(events.some(({ type }) => type === 'checkpoint-saved')).toBe(true);
    await proxy.settle();
  });

  it('share what one of them has learnt of a window', async () => {
    const { proxy, learnt, simulator } = await start(newFile());
    const agents = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
      createAgent(proxy.url, [{ role: 'user', content: `Task ${name}, please.` }]),
    );
    const [first, ...others] = agents;
    await first!.work(60, { characters: 4000 });
    expect(learnt).toEqual([['claude-sonnet-4-6', WINDOW]]);
    const refused = () => simulator.requests.filter(({ status }) => status !== 200).length;
    const before = refused();
    for (const agent of others) await agent.work(60, { characters: 4000 });
    expect(learnt.length).toBe(1);
    expect(refused()).toBe(before);
  });

  it('go on as they came when a thread dies, and that is told', async () => {
    // An address that no store has: whoever opens it fails.
    const { proxy, records, events } = await start('');
    const agent = createAgent(proxy.url, START);
    await agent.work(22, { characters: 4000 });
    const last = records.at(-1)!;
    expect(last).toMatchObject({ status: 'passed', reason: 'failed', httpStatus: 200 });
    expect(records[0]).toMatchObject({ status: 'unchanged' });
    expect(events.some(({ type }) => type === 'prepare-failed')).toBe(true);
  });
});
