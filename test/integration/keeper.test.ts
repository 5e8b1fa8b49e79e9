import { describe, expect, it } from 'vitest';
import { measureRequest } from '../../src/compaction/compactor.ts';
import { readConversation } from '../../src/formats/registry.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { keeping, noncesIn, session, telling } from '../support/keeping.ts';
import { mapStore } from '../support/map-store.ts';

type List = readonly unknown[];

/** A summarizer that waits until it is let go. */
function waiting() {
  const { summarizer, requests } = telling();
  const gates: (() => void)[] = [];
  return {
    requests,
    gates,
    release: () => {
      for (const open of gates.splice(0)) open();
    },
    summarizer: {
      ...summarizer,
      async summarize(request: Parameters<typeof summarizer.summarize>[0]) {
        await new Promise<void>((resolve) => gates.push(resolve));
        return summarizer.summarize(request);
      },
    },
  };
}

/** The same store, with methods that can be replaced. */
function proxyOf(store: Store): Store {
  return {
    name: store.name,
    find: (lookup) => store.find(lookup),
    commit: (commit) => store.commit(commit),
    acquire: (request) => store.acquire(request),
    renew: (lease, milliseconds) => store.renew(lease, milliseconds),
    release: (lease) => store.release(lease),
    recall: (key) => store.recall(key),
    search: (query) => store.search(query),
    list: (filter) => store.list(filter),
    checkpoints: (key) => store.checkpoints(key),
    spans: (key) => store.spans(key),
    restore: (record) => store.restore(record),
    forget: (key) => store.forget(key),
    wishes: (tenant) => store.wishes(tenant),
    wish: (key, change) => store.wish(key, change),
    erase: (tenant) => store.erase(tenant),
    collect: (retention) => store.collect(retention),
    verify: () => store.verify(),
    close: () => store.close(),
  };
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a keeper', () => {
  it('gives requests back as they are until a summary is there, and swaps it in however late', async () => {
    const { summarizer, gates, release, requests } = waiting();
    const { keeper } = keeping({ summarizer, windowTokens: 20_000, trigger: 3000, target: 1500 });
    for (let rounds = 22; rounds < 32; rounds++) {
      const value = session(rounds);
      expect(await keeper.prepare(value)).toEqual({ value, status: 'unchanged' });
      await until(() => gates.length === 1);
    }
    release();
    await keeper.settle();
    const { status, checkpoint } = await keeper.prepare(session(33));
    expect(status).toBe('folded');
    expect(checkpoint?.boundary).toBeLessThanOrEqual(45);
    expect(requests.length).toBe(1);
  });

  it('keeps a summary ready and sends requests as they are until they have the size to fold at', async () => {
    const { summarizer, requests } = telling();
    const limits = { windowTokens: 20_000, trigger: 3000, target: 1500, foldAt: 6000 };
    const { keeper, store } = keeping({ summarizer, ...limits });
    const estimator = createTokenEstimator();
    const sizeOf = (value: List) => measureRequest(readConversation(value), undefined, estimator);
    const statuses: (readonly [size: number, status: string, boundary: number])[] = [];
    for (let rounds = 22; rounds < 120; rounds++) {
      const value = session(rounds);
      const { status, checkpoint, value: sent } = await keeper.prepare(value);
      statuses.push([sizeOf(value), status, checkpoint?.boundary ?? 0]);
      expect(sizeOf(sent)).toBeLessThan(6500);
      await keeper.settle();
    }
    const first = statuses.findIndex(([, status]) => status === 'folded');
    // The test estimates with another profile than the keeper.
    expect(statuses[first]?.[0]).toBeGreaterThan(5500);
    expect(statuses.slice(first).every(([, status]) => status === 'folded')).toBe(true);
    const boundaries = [...new Set(statuses.map(([, , boundary]) => boundary))];
    expect(boundaries.length).toBeGreaterThan(3);
    // Every rewrite of the prefix is one that the size asked for, and none is taken back.
    expect(boundaries).toEqual(boundaries.toSorted((left, right) => left - right));
    const paid = requests.length;
    const other = keeping({ summarizer, store, ...limits });
    const again = [];
    for (let rounds = 22; rounds < 120; rounds++)
      again.push((await other.keeper.prepare(session(rounds))).checkpoint?.boundary ?? 0);
    expect(again).toEqual(statuses.map(([, , boundary]) => boundary));
    expect(requests.length).toBe(paid);
  });

  it('uses what is ready where the provider has counted more than we do, and leaves nothing out', async () => {
    const { keeper, events } = keeping({ windowTokens: 20_000, trigger: 3000, target: 1500, foldAt: 15_000 });
    expect((await keeper.prepare(session(80))).status).toBe('unchanged');
    await keeper.settle();
    expect((await keeper.prepare(session(80))).status).toBe('unchanged');
    const usage = { promptTokens: 19_900, outputTokens: 50 };
    const { status, value } = await keeper.prepare(session(81), { usage });
    expect(status).toBe('folded');
    expect(value.length).toBeLessThan(session(81).length);
    expect(events.filter(({ type }) => type === 'request-reduced')).toEqual([]);
  });

  it('goes on with a summary that was sent for a list that had become shorter', async () => {
    const { keeper } = keeping({ windowTokens: 20_000, trigger: 0.15, target: 0.08, foldAt: 0.3 });
    const statusOf = async (rounds: number, windowTokens?: number) => {
      const { status } = await keeper.prepare(session(rounds), { windowTokens });
      await keeper.settle();
      return status;
    };
    let rounds = 22;
    while ((await statusOf(rounds)) !== 'folded') rounds++;
    // The client goes back by a round, and its provider says that this is too long.
    expect(await statusOf(rounds - 1)).toBe('unchanged');
    expect(await statusOf(rounds - 1, 18_000)).toBe('folded');
    expect(await statusOf(rounds - 1)).toBe('folded');
  });

  it('refuses a size to fold at that is no size within the window', () => {
    expect(() => keeping({ windowTokens: 20_000, foldAt: 30_000 })).toThrow('foldAt is 30000');
    expect(() => keeping({ windowTokens: 20_000, foldAt: -1 })).toThrow('foldAt is -1');
  });

  it('waits for a compaction when a request would not fit, and no longer than it has patience', async () => {
    const { summarizer, gates, release } = waiting();
    let leave: (() => void) | undefined;
    const schedule = (task: () => void, milliseconds: number) => {
      if (milliseconds === 5) leave = task;
      return () => undefined;
    };
    const { keeper, events } = keeping({ summarizer, windowTokens: 3000, schedule, patienceMilliseconds: 5 });
    const first = keeper.prepare(session(40));
    await until(() => gates.length === 1 && leave !== undefined);
    leave?.();
    expect((await first).status).toBe('reduced');
    const second = keeper.prepare(session(40));
    await until(() => gates.length === 1);
    release();
    expect((await second).status).toBe('folded');
    expect(events.filter(({ type }) => type === 'request-reduced')).toHaveLength(1);
  });

  it('goes on without a store that does not answer, and tells it', async () => {
    const late: (() => void)[] = [];
    const schedule = (task: () => void, milliseconds: number) => {
      if (milliseconds === 2000) late.push(task);
      return () => undefined;
    };
    const store = { ...mapStore({ now: () => 0 }), find: () => new Promise<never>(() => {}) };
    const { keeper, events } = keeping({ store, schedule });
    const value = session(3);
    const prepared = keeper.prepare(value);
    await until(() => late.length === 1);
    late[0]?.();
    expect(await prepared).toMatchObject({ status: 'unchanged', value });
    const failed = events.find((event) => event.type === 'store-failed');
    expect(failed).toMatchObject({ operation: 'find', error: { code: 'store' } });
  });

  it('lets a caller go who does not want to wait, and goes on with its work', async () => {
    const { summarizer, gates, release, requests } = waiting();
    const { keeper } = keeping({ summarizer, windowTokens: 3000 });
    const controller = new AbortController();
    const first = keeper.prepare(session(40), { signal: controller.signal });
    await until(() => gates.length === 1);
    controller.abort();
    expect((await first).status).toBe('reduced');
    release();
    await keeper.settle();
    expect((await keeper.prepare(session(40))).status).toBe('folded');
    expect(requests.length).toBe(1);
  });

  it('keeps nothing and looks nothing up without a tenant, or where the provider holds the history', async () => {
    const store = mapStore({ now: () => 0, fails: () => true });
    const { keeper, events } = keeping({ store, tenant: undefined });
    const value = session(60);
    expect(await keeper.prepare(value)).toEqual({ value, status: 'passed', reason: 'no-tenant' });
    const managed = { messages: value, context_management: { edits: [{ type: 'compact_20260112' }] } };
    expect(await keeper.prepare(managed, { tenant: 'a' })).toEqual({
      value: managed,
      status: 'passed',
      reason: 'provider-compacts',
    });
    const continued = { messages: value, thread: { id: 't' } };
    expect(await keeper.prepare(continued, { tenant: 'a' })).toMatchObject({
      status: 'passed',
      reason: 'provider-holds-history',
    });
    await keeper.settle();
    expect(events).toEqual([
      { type: 'request-passed', reason: 'no-tenant' },
      { type: 'request-passed', reason: 'provider-compacts', detail: 'context_management' },
      { type: 'request-passed', reason: 'provider-holds-history', detail: 'thread' },
    ]);
  });

  it('passes on what is nested deeper than anybody can follow', async () => {
    const { keeper, events } = keeping();
    let input: unknown = 1;
    for (let depth = 0; depth < 200_000; depth++) input = [input];
    const value = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'c' }] },
    ];
    expect(await keeper.prepare(value)).toEqual({ value, status: 'passed', reason: 'failed' });
    expect(events).toMatchObject([{ type: 'prepare-failed' }, { type: 'request-passed', reason: 'failed' }]);
  });

  it('keeps tenants apart that say the same', async () => {
    const { summarizer, requests } = telling();
    const { keeper, store } = keeping({ summarizer });
    const value = session(20);
    for (const tenant of ['a', 'b']) {
      expect((await keeper.prepare(value, { tenant })).status).toBe('unchanged');
      await keeper.settle();
      const { checkpoint } = await keeper.prepare(value, { tenant });
      expect(checkpoint?.tenant).toBe(tenant);
    }
    expect(requests.length).toBe(2);
    expect((await store.list()).map(({ tenant }) => tenant).toSorted()).toEqual(['a', 'b']);
  });

  it('does not care what the system prompt is, and sends it as it is', async () => {
    const { keeper } = keeping({ format: 'openai-chat', options: { keepRecentTokens: 100 } });
    const chat = Array.from({ length: 60 }, (_one, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `#${index}# ${'words of somebody '.repeat(20)}`,
    }));
    const late = { role: 'system', content: 'a rule that came later' };
    const list = chat.toSpliced(7, 0, late);
    const systems: List = [{ role: 'system', content: 'one' }];
    await keeper.prepare([...systems, ...list]);
    await keeper.settle();
    for (const head of [
      systems,
      [],
      [
        { role: 'system', content: 'two' },
        { role: 'developer', content: 'three' },
      ],
    ]) {
      const { value, status } = await keeper.prepare([...head, ...list]);
      expect(status).toBe('folded');
      expect(value.slice(0, head.length)).toEqual(head);
      expect(value.length).toBeLessThan(list.length);
      // What a system message says further back stays too.
      expect(value).toContain(late);
    }
  });

  it('takes the provider at its word, about the view that was sent and no other', async () => {
    const value = session(24);
    const sizes = { windowTokens: 20_000, options: { keepRecentTokens: 2500 } };
    const probe = keeping({ ...sizes, trigger: 100, target: 50 });
    await probe.keeper.prepare(value);
    await probe.keeper.settle();
    const started = probe.events.find(({ type }) => type === 'compaction-start');
    const tokens = started?.type === 'compaction-start' ? started.tokens : 0;

    // By our own count it is just below the trigger, and about half of it once it is folded.
    const triggerTokens = Math.round(tokens * 1.01);
    const { keeper, events } = keeping({ ...sizes, trigger: triggerTokens, target: triggerTokens - 100 });
    expect((await keeper.prepare(value)).status).toBe('unchanged');
    await keeper.settle();
    expect(events).toEqual([]);
    const usage = { promptTokens: triggerTokens - 50, outputTokens: 0 };
    await keeper.prepare(value, { usage });
    await keeper.settle();
    expect((await keeper.prepare(value, { usage })).status).toBe('folded');
    await keeper.settle();
    expect(events.filter(({ type }) => type === 'compaction-start')).toHaveLength(1);
  });

  it('looks again once it has the lease: somebody may have been faster', async () => {
    const { summarizer, requests } = telling();
    const store = memoryStore();
    const quick = keeping({ store, summarizer });
    let isHeldUp = true;
    const slow = keeping({
      summarizer,
      store: {
        ...proxyOf(store),
        async acquire(request) {
          await until(() => !isHeldUp);
          return store.acquire(request);
        },
      },
    });
    const value = session(20);
    await slow.keeper.prepare(value);
    await quick.keeper.prepare(value);
    await quick.keeper.settle();
    isHeldUp = false;
    await slow.keeper.settle();
    expect((await slow.keeper.prepare(value)).status).toBe('folded');
    expect(requests.length).toBe(1);
  });

  it('keeps what left, exactly as it was, and gives it back by its name', async () => {
    const { keeper, store } = keeping();
    const all = session(50);
    for (let rounds = 15; rounds <= 50; rounds += 5) {
      await keeper.prepare(all.slice(0, 1 + 2 * rounds));
      await keeper.settle();
    }
    const { checkpoint } = await keeper.prepare(all);
    const left = (checkpoint?.receipt.runs ?? []).filter(({ fate }) => fate !== 'verbatim');
    expect(left.length).toBeGreaterThan(1);
    for (const { start, end, handle = '' } of left) {
      const span = await store.recall({ tenant: 'a', handle });
      const kept = JSON.parse(new TextDecoder().decode(span?.body)) as List;
      for (const raw of all.slice(start, end)) expect(kept).toContainEqual(raw);
      expect(await store.recall({ tenant: 'b', handle })).toBeUndefined();
    }
  });

  it('hands names for what leaves to the strategy, and keeps what is read under those it wrote', async () => {
    const { summarizer } = telling();
    const written: string[] = [];
    const { keeper, store } = keeping({
      options: undefined,
      strategy: {
        name: 'naming',
        async compact(conversation, context) {
          const { applyPlan } = await import('../../src/compaction/plan/plan.ts');
          const { writeReceipt } = await import('../../src/compaction/plan/receipt.ts');
          await summarizer.summarize({
            messages: conversation.messages.slice(1, 9),
            conversation,
            previousSummary: undefined,
            instructions: undefined,
            maximumTokens: 100,
            estimator: context.estimator,
            signal: undefined,
          });
          context.handleFor?.(conversation.messages.slice(1, 3));
          const handle = context.handleFor?.(conversation.messages.slice(1, 9)) ?? '';
          written.push(handle);
          const plan = {
            steps: [
              [
                { type: 'drop' as const, start: 1, end: 9 },
                { type: 'insert' as const, before: 1, text: `see ${handle}` },
              ],
            ],
          };
          const applied = applyPlan(conversation, plan);
          const { estimator } = context;
          const receipt = writeReceipt(conversation, applied, { estimator, strategy: 'naming' });
          return {
            status: 'compacted',
            reason: 'named',
            conversation: applied.conversation,
            plan,
            undo: applied.undo,
            receipt,
          };
        },
      },
    });
    const all = session(20);
    await keeper.prepare(all);
    await keeper.settle();
    const { checkpoint } = await keeper.prepare(all);
    const [handle = ''] = written;
    expect(handle).toMatch(/^rf:[0-9a-f]{32}$/);
    const span = await store.recall({ tenant: 'a', handle });
    expect(JSON.parse(new TextDecoder().decode(span?.body))).toEqual(all.slice(1, 9));
    expect(await store.spans({ tenant: 'a', conversation: checkpoint?.conversation ?? '' })).toHaveLength(1);
  });

  it('writes no names where nothing is kept', async () => {
    const { keeper, store } = keeping({ archive: false });
    await keeper.prepare(session(20));
    await keeper.settle();
    const { checkpoint } = await keeper.prepare(session(20));
    expect(checkpoint?.receipt.runs.some(({ handle }) => handle !== undefined)).toBe(false);
    expect(await store.spans({ tenant: 'a', conversation: checkpoint?.conversation ?? '' })).toEqual([]);
  });

  it('leaves no cache marker of an old request in what it sends later', async () => {
    const { keeper } = keeping({
      strategy: 'clear-tool-results',
      options: { protectTokens: 100, minBatchTokens: 100, tools: 'ask_expert' },
    });
    const marked = JSON.parse(JSON.stringify(session(20)), (_key, value: unknown) =>
      typeof value === 'object' && value !== null && 'tool_use_id' in value
        ? { ...value, cache_control: { type: 'ephemeral' } }
        : value,
    ) as List;
    await keeper.prepare(marked);
    await keeper.settle();
    const { value, status } = await keeper.prepare(session(21));
    expect(status).toBe('folded');
    expect(JSON.stringify(value)).not.toContain('cache_control');
  });

  it('forgets what was deleted, also what is under way', async () => {
    const store = memoryStore();
    const { summarizer, gates, release } = waiting();
    const { keeper, events } = keeping({ store, summarizer });
    const value = session(20);
    await keeper.prepare(value);
    await until(() => gates.length === 1);
    release();
    await keeper.settle();
    const { checkpoint } = await keeper.prepare(value);
    const conversation = checkpoint?.conversation ?? '';
    await store.forget({ tenant: 'a', conversation });
    expect((await keeper.prepare(value)).status).toBe('unchanged');
    expect(events.some(({ type }) => type === 'checkpoint-lost')).toBe(true);
    await until(() => gates.length === 1);
    await store.forget({ tenant: 'a', conversation });
    release();
    await keeper.settle();
    expect(events.at(-1)).toMatchObject({ type: 'checkpoint-refused', reason: 'forgotten' });
    expect(await store.checkpoints({ tenant: 'a', conversation })).toEqual([]);
  });

  it('leaves the record of whoever took over its lease, and does not pay again', async () => {
    let now = 0;
    const store = mapStore({ now: () => now });
    const slow = waiting();
    const one = keeping({
      store,
      summarizer: slow.summarizer,
      now: () => now,
      schedule: () => () => undefined,
    });
    const { summarizer, requests } = telling();
    const other = keeping({ store, summarizer, now: () => now, schedule: () => () => undefined });
    const value = session(20);
    await one.keeper.prepare(value);
    await until(() => slow.gates.length === 1);
    await other.keeper.prepare(value);
    await other.keeper.settle();
    expect(other.events.at(-1)).toMatchObject({ type: 'lease-held' });
    now += 60_000;
    await other.keeper.prepare(value);
    await other.keeper.settle();
    slow.release();
    await one.keeper.settle();
    expect(one.events.at(-1)).toMatchObject({ type: 'checkpoint-refused', reason: 'fenced' });
    for (const { keeper } of [one, other]) expect((await keeper.prepare(value)).status).toBe('folded');
    await one.keeper.settle();
    expect(store.records.size).toBe(1);
    expect([slow.requests.length, requests.length]).toEqual([1, 1]);
  });

  it('renews its lease while it works, and gives up what takes for ever', async () => {
    let now = 0;
    const store = mapStore({ now: () => now });
    const tasks: (() => void)[] = [];
    const schedule = (task: () => void) => {
      tasks.push(task);
      return () => {
        if (tasks.includes(task)) tasks.splice(tasks.indexOf(task), 1);
      };
    };
    const signals: (AbortSignal | undefined)[] = [];
    const summarizer = {
      name: 'endless',
      asksModel: true,
      summarize: ({ signal }: { readonly signal: AbortSignal | undefined }) => {
        signals.push(signal);
        return new Promise<never>((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    };
    const { keeper } = keeping({ store, summarizer, schedule, now: () => now, leaseMilliseconds: 30_000 });
    const other = keeping({ store, now: () => now });
    await keeper.prepare(session(20));
    await until(() => signals.length === 1);
    for (let renewal = 0; renewal < 31; renewal++) {
      await until(() => tasks.length === 1);
      now += 10_000;
      tasks.splice(0)[0]?.();
      if (renewal === 20) {
        await other.keeper.prepare(session(20));
        await other.keeper.settle();
        expect(other.events.at(-1)).toMatchObject({ type: 'lease-held' });
      }
    }
    expect(signals[0]?.aborted).toBe(true);
    await keeper.settle();
  });

  it('gives up its work when it is closed, and leaves nothing behind', async () => {
    const store = mapStore({ now: () => 0 });
    const { summarizer, gates } = waiting();
    const { keeper } = keeping({ store, summarizer });
    await keeper.prepare(session(20));
    await until(() => gates.length === 1);
    const closed = keeper.close();
    for (const open of gates) open();
    await closed;
    expect(store.records.size).toBe(0);
    await keeper.prepare(session(20));
    expect(gates.length).toBe(1);
    expect(await store.acquire({ tenant: 'a', key: 'x', owner: 'b', milliseconds: 1 })).toBeDefined();
  });

  it('drops reasoning that was written for another prefix, where the model refuses it, and keeps what is new', async () => {
    const { keeper } = keeping({ model: 'claude-opus-5-5', options: { keepRecentTokens: 400 } });
    const think = (list: List) =>
      list.map((raw) =>
        JSON.stringify(raw).includes('"assistant"')
          ? {
              ...(raw as { content: List }),
              content: [
                { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
                ...(raw as { content: List }).content,
              ],
            }
          : raw,
      );
    const all = think(session(30));
    await keeper.prepare(all.slice(0, 41));
    await keeper.settle();
    const folded = await keeper.prepare(all.slice(0, 45));
    const thoughtsIn = (value: List) =>
      readConversation(value, 'anthropic-messages').messages.flatMap(({ blocks }) =>
        blocks.filter(({ type }) => type === 'reasoning'),
      ).length;
    expect(folded.status).toBe('folded');
    expect(thoughtsIn(folded.value)).toBe(0);
    const next = await keeper.prepare(all.slice(0, 49));
    expect(thoughtsIn(next.value)).toBe(2);
    expect(noncesIn(next.value).length).toBeGreaterThan(4);
  });
});
