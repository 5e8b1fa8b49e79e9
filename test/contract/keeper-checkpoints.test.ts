import { describe, expect, it } from 'vitest';
import { requestTokens } from '../../src/compaction/strategies/index.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { createCompactor, createTokenEstimator, readConversation } from '../../src/index.ts';
import type { Prepared } from '../../src/keeper/keeper.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { keeping as keepingIn, noncesIn, readTold, session, telling, told } from '../support/keeping.ts';
import { mapStore } from '../support/map-store.ts';

type List = readonly unknown[];

/** A keeper that compacts from 3000 tokens on. */
const keeping: typeof keepingIn = (options) => keepingIn({ trigger: 3000, ...options });

const errorsOf = (value: unknown) =>
  (findContract('anthropic-messages')?.check(value, { scope: 'messages' }) ?? []).filter(
    ({ severity }) => severity === 'error',
  );

const tokensOf = (value: unknown) =>
  requestTokens(readConversation(value, 'anthropic-messages'), createTokenEstimator());

/** What a request sends: as it is, told by a summary, or neither. */
function whereabouts({ value }: Prepared<List>, all: List) {
  const verbatim = new Set(value.filter((raw) => all.includes(raw)).flatMap(noncesIn));
  const covered = new Set(value.flatMap((raw) => readTold(JSON.stringify(raw))));
  const lost = noncesIn(all).filter((nonce) => !verbatim.has(nonce) && !covered.has(nonce));
  const twice = [...verbatim].filter((nonce) => covered.has(nonce));
  return { verbatim, covered, lost, twice };
}

describe('checkpoints', () => {
  it('what a checkpoint covers is what the summarizer has read, on every turn', async () => {
    const { summarizer, requests } = telling();
    const { keeper } = keeping({ summarizer });
    for (let rounds = 1; rounds <= 60; rounds++) {
      const all = session(rounds);
      const prepared = await keeper.prepare(all);
      const { lost, twice, covered } = whereabouts(prepared, all);
      expect({ lost, twice }).toEqual({ lost: [], twice: [] });
      const runs = prepared.checkpoint?.receipt.runs ?? [];
      const counted = runs
        .filter(({ fate }) => fate === 'summarised')
        .flatMap(({ start, end }) => all.slice(start, end));
      expect(noncesIn(counted)).toEqual([...covered]);
      expect(errorsOf(prepared.value)).toEqual([]);
      await keeper.settle();
    }
    expect(requests.length).toBeGreaterThan(2);
  });

  it('a summarizer with a small window reads the oldest rounds first, and nothing is hidden', async () => {
    const limit = 35;
    const { summarizer, requests } = telling(({ messages }) =>
      messages.length > limit ? 'input-too-long' : 'tell',
    );
    const { keeper } = keeping({
      summarizer,
      windowTokens: 20_000,
      trigger: 4600,
      target: 4500,
      options: { keepRecentTokens: 400, maxSummaryTokens: 200 },
    });
    const all = session(36);
    const boundaries: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const prepared = await keeper.prepare(all);
      const { lost, twice, covered } = whereabouts(prepared, all);
      expect({ lost, twice }).toEqual({ lost: [], twice: [] });
      // What is covered is the oldest there is, behind the pinned question.
      expect([...covered]).toEqual([...covered.keys()].map((_one, index) => index + 1));
      boundaries.push(prepared.checkpoint?.boundary ?? 0);
      await keeper.settle();
    }
    expect(boundaries).toEqual(boundaries.toSorted((left, right) => left - right));
    expect(boundaries.at(-1)).toBeGreaterThan(0);
    expect(requests.some(({ messages }) => messages.length > limit)).toBe(true);
    expect(requests.some(({ messages }) => messages.length <= limit)).toBe(true);
  });

  it('what a summarizer cannot be shown, and the target has no room for, our own story tells in front of its prose', async () => {
    const { summarizer } = telling(({ messages }) => (messages.length > 20 ? 'input-too-long' : 'tell'));
    const { keeper } = keeping({ summarizer, windowTokens: 20_000, trigger: 2000, target: 1500 });
    const all = session(30);
    await keeper.prepare(all);
    await keeper.settle();
    const prepared = await keeper.prepare(all);
    const { verbatim, covered } = whereabouts(prepared, all);
    const [memory = ''] = JSON.stringify(prepared.value[1]).split('told: ');
    const untold = noncesIn(all).filter((nonce) => !verbatim.has(nonce) && !covered.has(nonce));

    expect(prepared.status).toBe('folded');
    expect(Math.max(...untold)).toBeLessThan(Math.min(...covered));
    expect(memory).toContain('Memory of 28 rounds.');
    expect(memory.split('- agent: ').length).toBeGreaterThan(10);
    expect(memory).not.toContain('[0]');
    expect(untold).toEqual(expect.arrayContaining([...noncesIn(memory)]));
    expect(errorsOf(prepared.value)).toEqual([]);
  });

  it('the boundary advances with the conversation, and a summary is paid for only when it does', async () => {
    const { summarizer, requests } = telling();
    const { keeper } = keeping({ summarizer });
    const boundaries: number[] = [];
    for (let rounds = 10; rounds < 70; rounds += 2) {
      const { checkpoint } = await keeper.prepare(session(rounds));
      boundaries.push(checkpoint?.boundary ?? 0);
      await keeper.settle();
    }
    expect(boundaries).toEqual(boundaries.toSorted((left, right) => left - right));
    expect(boundaries.at(-1)).toBeGreaterThan(100);
    expect(requests.length).toBeLessThanOrEqual(new Set(boundaries).size);
    // None of them reads again what the one before has read.
    const read = requests.flatMap(({ messages }) => messages.flatMap(({ raw }) => noncesIn(raw)));
    expect(new Set(read).size).toBe(read.length);
  });

  it('whoever asks at the same time, in one process or in three, one of them compacts', async () => {
    const { summarizer, requests } = telling();
    const store = memoryStore();
    const keepers = [1, 2, 3].map(() => keeping({ summarizer, store }).keeper);
    const value = session(20);
    const prepared = await Promise.all(
      [...keepers, ...keepers, ...keepers].map((keeper) => keeper.prepare(value)),
    );
    await Promise.all(keepers.map((keeper) => keeper.settle()));
    expect(prepared.every(({ status }) => status === 'unchanged')).toBe(true);
    expect(requests.length).toBe(1);
    for (const keeper of keepers) expect((await keeper.prepare(value)).status).toBe('folded');
    expect(requests.length).toBe(1);
  });

  const chat = Array.from({ length: 20 }, (_one, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: told(index).repeat(6),
  })).toSpliced(-1);

  it.each([
    ['talk', 'with a summary', chat],
    ['talk', 'with a summarizer that fails', chat],
    ['tool rounds', 'with a summary', session(12)],
    ['tool rounds', 'with a summarizer that fails', session(12)],
  ])('%s never passes a cap of 1000, %s', async (_name, how, all) => {
    const { summarizer } = telling(() => (how === 'with a summary' ? 'tell' : 'throw'));
    const options = { keepRecentTokens: 100, keepRounds: 1 };
    const { keeper } = keeping({ summarizer, windowTokens: 1000, trigger: undefined, options });
    expect(tokensOf(all)).toBeGreaterThan(1500);
    for (let turn = 0; turn < 4; turn++) {
      const { value, status } = await keeper.prepare(all);
      expect(tokensOf(value)).toBeLessThanOrEqual(1000);
      expect(errorsOf(value)).toEqual([]);
      expect(status).not.toBe('unchanged');
      await keeper.settle();
    }
  });

  it('a window of 0 has no limit, on any path', async () => {
    const { summarizer, requests } = telling();
    const { keeper, events } = keeping({ summarizer, windowTokens: 0, trigger: undefined });
    const value = session(200);
    const usage = { promptTokens: 10_000_000, outputTokens: 5 };
    expect((await keeper.prepare(value)).value).toBe(value);
    expect((await keeper.prepare(value, { usage })).value).toBe(value);
    await keeper.settle();
    expect(requests).toEqual([]);
    expect(events).toEqual([]);
  });

  it.each(['find', 'acquire', 'renew', 'commit', 'release', 'all'])(
    'a store that fails to %s breaks no request, and is told',
    async (broken) => {
      let isBroken = true;
      const fails = (operation: string) => isBroken && (broken === 'all' || broken === operation);
      const store = mapStore({ now: () => 0, fails });
      const tasks: (() => void)[] = [];
      const schedule = (task: () => void) => {
        tasks.push(task);
        return () => undefined;
      };
      const { summarizer, requests } = telling(() => {
        for (const task of tasks.splice(0)) task();
        return 'tell';
      });
      const { keeper, events } = keeping({ store, summarizer, schedule });
      const value = session(25);
      for (let turn = 0; turn < 3; turn++) {
        const prepared = await keeper.prepare(value);
        expect(errorsOf(prepared.value)).toEqual([]);
        expect(whereabouts(prepared, value).lost).toEqual([]);
        await keeper.settle();
      }
      const failures = events.filter(({ type }) => type === 'store-failed');
      expect(failures.length).toBeGreaterThan(0);
      expect(requests.length).toBeLessThanOrEqual(1);

      // As soon as it works again, so does everything.
      isBroken = false;
      for (let turn = 0; turn < 3; turn++) {
        await keeper.prepare(value);
        await keeper.settle();
      }
      expect((await keeper.prepare(value)).status).toBe('folded');
      expect(requests.length).toBe(1);
      expect(store.records.size).toBe(1);
    },
  );

  it('a strategy that throws breaks no request, changes nothing that is stored, and gets a rest', async () => {
    const strategy = { name: 'broken', compact: () => Promise.reject(new Error('no')) };
    const store = mapStore({ now: () => 0 });
    const { keeper, events } = keeping({ strategy, options: undefined, store });
    const value = session(25);
    for (let turn = 0; turn < 5; turn++) {
      expect((await keeper.prepare(value)).value).toBe(value);
      await keeper.settle();
    }
    expect(store.records.size).toBe(0);
    // Three failures are enough.
    expect(events.filter(({ type }) => type === 'compaction-start')).toHaveLength(3);
    expect(events.filter(({ type }) => type === 'compaction-paused')).toHaveLength(1);
  });

  it('a summarizer that throws costs nothing but quality: our own covers the same messages, and it is told', async () => {
    const { summarizer, requests } = telling(() => 'throw');
    const { keeper, events } = keeping({ summarizer });
    const value = session(25);
    await keeper.prepare(value);
    await keeper.settle();
    const prepared = await keeper.prepare(value);
    const [request] = requests;
    const runs = prepared.checkpoint?.receipt.runs ?? [];
    const counted = runs.filter(({ fate }) => fate === 'summarised');

    expect(prepared.status).toBe('folded');
    expect(errorsOf(prepared.value)).toEqual([]);
    expect(noncesIn(counted.flatMap(({ start, end }) => value.slice(start, end)))).toEqual(
      noncesIn(request?.messages.map(({ raw }) => raw)),
    );
    expect(requests).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'summarizer-failed')).toMatchObject([{ reason: 'upstream' }]);
  });

  it('neither a plan for another conversation nor a listener that throws breaks anything', async () => {
    const { outcome } = await createCompactor({
      windowTokens: 200_000,
      strategy: 'sliding-window',
      options: { keepLast: 4 },
    }).compact(session(90));
    const strategy = { name: 'mistaken', compact: () => Promise.resolve(outcome) };
    const onEvent = () => {
      throw new Error('not listening');
    };
    const { keeper, events, store } = keeping({ strategy, options: undefined, onEvent });
    const value = session(25);
    for (let turn = 0; turn < 5; turn++) {
      expect((await keeper.prepare(value)).value).toBe(value);
      await keeper.settle();
    }
    expect(events.some(({ type }) => type === 'compaction-failed')).toBe(true);
    expect(events.some(({ type }) => type === 'compaction-paused')).toBe(true);
    expect(await store.list()).toEqual([]);
  });

  it('what was edited, regenerated or branched off before the boundary is never told by an old summary', async () => {
    const { summarizer } = telling();
    const { keeper } = keeping({ summarizer });
    const all = session(20);
    await keeper.prepare(all);
    await keeper.settle();
    const { checkpoint } = await keeper.prepare(all);
    const boundary = checkpoint?.boundary ?? 0;
    expect(boundary).toBeGreaterThan(10);
    for (let index = 0; index < all.length; index++) {
      const edited = all.with(
        index,
        JSON.parse(JSON.stringify(all[index]).replace('the parser', 'a parser')),
      );
      const prepared = await keeper.prepare(edited);
      expect(prepared.checkpoint === undefined).toBe(index < boundary);
      if (index < boundary) expect(prepared.value).toBe(edited);
      await keeper.settle();
    }
  });

  it('a clone has what was made of the original, under its own tenant alone', async () => {
    const { keeper, store } = keeping();
    const all = session(20);
    await keeper.prepare(all);
    await keeper.settle();
    const clone = JSON.parse(JSON.stringify(all)) as List;
    const { keeper: other } = keeping({ store });
    expect((await other.prepare(clone)).status).toBe('folded');
    expect((await other.prepare(clone, { tenant: 'b' })).status).toBe('unchanged');
    await other.settle();
    expect((await other.prepare(clone.slice(0, 4), { tenant: 'a' })).status).toBe('unchanged');
  });
});
