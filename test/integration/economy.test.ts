import { fc, test } from '@fast-check/vitest';
import { beforeAll, describe, expect, it } from 'vitest';
import { initialAutoCompactState } from '../../src/compaction/breaker.ts';
import { type CallOptions, createCompactor } from '../../src/compaction/compactor.ts';
import { costOf, oneOffCost, type PriceSet, priceSetOf } from '../../src/compaction/economics/costs.ts';
import { emptyLedger, savedSoFar } from '../../src/compaction/economics/ledger.ts';
import { createPromptCache, type PromptSegment } from '../../src/compaction/economics/prompt-cache.ts';
import type { CompactionEvent, CompactorOptions } from '../../src/compaction/options.ts';
import { changeOf, type Strategy } from '../../src/compaction/plan/strategy.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import type { Conversation } from '../../src/conversation/format.ts';
import { anthropicMessages } from '../../src/formats/anthropic-messages/format.ts';
import { costSessionsOf } from '../../src/lab/cost-session.ts';
import { memory } from '../../src/memory/summarizer.ts';
import type { Summarizer } from '../../src/memory/summary-request.ts';
import { findModel } from '../../src/tokens/catalog.ts';
import { createTokenEstimator, type TokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { tokenProfileForModel } from '../../src/tokens/profiles.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

const models = ['claude-opus-5-5', 'claude-sonnet-5-5', 'gpt-6.1-sol'];
const cases = models.flatMap((model) => [60_000, 200_000].map((windowTokens) => ({ model, windowTokens })));

function pricesOf(model: string): PriceSet {
  const prices = priceSetOf(findModel(model) ?? {});
  if (prices === undefined) throw new Error(`no prices for ${model}`);
  return prices;
}

/** A session as its requests: what each adds, and when. */
interface Session {
  readonly conversation: Conversation;
  readonly turns: readonly {
    readonly added: readonly unknown[];
    readonly atSeconds: number;
    readonly outputTokens: number;
  }[];
}

const nothing = { promptTokens: 0, outputTokens: 0 };

interface Sent {
  /** Costs of all requests up to and with each, by the cache alone, not by the ledger. */
  readonly costs: readonly number[];
  readonly largestPrompt: number;
  readonly compactions: readonly (string | undefined)[];
}

/** Sends a session to a cache of its own, each request as the compactor gives it back. */
async function send(
  { conversation, turns }: Session,
  { model, options }: { model: string; options?: CompactorOptions | undefined },
): Promise<Sent> {
  const { format, frame } = conversation;
  const prices = pricesOf(model);
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  const compactor = options && createCompactor({ format: format.name, model, ...options });
  const cache = createPromptCache(prices);
  const segmentsOf = createSegments(conversation, estimator);
  const costs: number[] = [];
  const compactions: (string | undefined)[] = [];
  let list: readonly unknown[] = [];
  let largestPrompt = 0;
  for (const [index, { added, atSeconds, outputTokens }] of turns.entries()) {
    list = [...list, ...added];
    const idleSeconds = atSeconds - (turns[index - 1]?.atSeconds ?? atSeconds);
    const ran = await compactor?.maybeCompact(format.replaceList(frame, list), { idleSeconds });
    const change = ran === undefined ? undefined : changeOf(ran.outcome);
    if (change !== undefined) {
      list = change.conversation.messages.map(({ raw }) => raw);
      compactions.push(ran?.advice?.reason);
    }
    const segments = segmentsOf(list);
    const promptTokens = segments.reduce((sum, { tokens }) => sum + tokens, 0);
    largestPrompt = Math.max(largestPrompt, promptTokens);
    const summaryCost = oneOffCost(prices, { ...(ran?.outcome.usage ?? nothing), cachedTokens: 0 });
    const cost = costOf(prices, cache.send({ segments, atSeconds, outputTokens }));
    costs.push((costs.at(-1) ?? 0) + cost + summaryCost);
  }
  return { costs, largestPrompt, compactions };
}

/** Instructions and tools, then the messages, each named by its value. */
function createSegments({ format, frame }: Conversation, estimator: TokenEstimator) {
  const ids = new Map<unknown, string>();
  const head = { id: 'head', tokens: requestTokens({ format, frame, messages: [] }, estimator) };
  return (list: readonly unknown[]): readonly PromptSegment[] => [
    head,
    ...list.map((raw) => {
      const id = ids.get(raw) ?? `message ${ids.size}`;
      ids.set(raw, id);
      return { id, tokens: estimator.countMessage(format.readMessage(raw)) };
    }),
  ];
}

/** By what share the costs up to any turn were above those of the other, at most. */
function largestExcess(one: Sent, other: Sent): number {
  return Math.max(...one.costs.map((cost, turn) => cost / (other.costs[turn] ?? 0) - 1));
}
/** A window in which a session only just fits, so that all of it is a choice. */
const justFitting = ({ largestPrompt }: Sent): CompactorOptions => ({
  windowTokens: 4_000_000,
  trigger: Math.ceil(largestPrompt) + 2,
});

const isMissing = corpusFiles().length === 0;
const agents = ['claude-code/', 'codex-rollout/', 'pi-session/'];

async function readSessions(): Promise<readonly Session[]> {
  const estimator = createTokenEstimator();
  const sessions: Session[] = [];
  for (const { file } of corpusFiles().filter(({ file }) => agents.some((name) => file.startsWith(name)))) {
    for await (const recording of readRecordings(await fileSource(corpusPath(file)))) {
      if (recording.transcript.kind !== 'main') continue;
      for (const { conversation, turns } of costSessionsOf(recording, { estimator })) {
        const plain = turns.map((turn) => ({ ...turn, added: turn.added.map(({ raw }) => raw) }));
        sessions.push({ conversation, turns: plain });
      }
    }
  }
  return sessions.filter(({ turns }) => turns.length >= 5);
}

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  let sessions: readonly Session[] = [];
  beforeAll(async () => {
    sessions = await readSessions();
  });

  it.each(cases)(
    'cost $model at $windowTokens at no time more than none',
    async ({ model, windowTokens }) => {
      const { triggerTokens } = createCompactor({ model, windowTokens }).thresholds;
      let fitting = 0;
      for (const session of sessions) {
        const none = await send(session, { model });
        if (none.largestPrompt >= triggerTokens) continue;
        fitting++;
        const followed = await send(session, { model, options: { windowTokens } });

        expect(largestExcess(followed, none)).toBeLessThanOrEqual(1e-9);
      }

      expect(fitting).toBeGreaterThanOrEqual(5);
    },
  );

  it.each(models)('cost %s less in windows that they only just fit, and none of them more', async (model) => {
    let [followedCost, noneCost] = [0, 0];
    const reasons = new Set<string | undefined>();
    for (const session of sessions) {
      const none = await send(session, { model });
      // A few are larger, and take most of the time.
      if (none.largestPrompt > 120_000) continue;
      const targetTokens = Math.floor(none.largestPrompt / 3);
      const followed = await send(session, {
        model,
        options: { ...justFitting(none), target: targetTokens },
      });

      expect(largestExcess(followed, none)).toBeLessThanOrEqual(1e-9);
      for (const reason of followed.compactions) reasons.add(reason);
      followedCost += followed.costs.at(-1) ?? 0;
      noneCost += none.costs.at(-1) ?? 0;
    }

    expect([...reasons]).toContain('cache-expired');
    expect([...reasons]).not.toContain('window-full');

    expect(followedCost).toBeLessThan(noneCost);
  });
});

const words = (count: number, seed = 0) =>
  Array.from({ length: count }, (_, index) => `word${(index * 7 + seed) % 97}`).join(' ');

const ask = (text: string) => ({ role: 'user', content: text });
const callAndResult = (id: string, size: number) => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'bash', input: { id } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: words(size, size) }] },
];

/** Requests with results of any size, pauses of any length and new tasks now and then. */
const generated: fc.Arbitrary<Session> = fc
  .record({
    system: fc.nat(3000),
    turns: fc.array(
      fc.record({
        size: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 200, max: 4000 })),
        idleSeconds: fc.oneof({ weight: 5, arbitrary: fc.nat(290) }, { weight: 1, arbitrary: fc.nat(9000) }),
        outputTokens: fc.nat(500),
        isNewTask: fc.boolean(),
      }),
      { minLength: 4, maxLength: 40 },
    ),
  })
  .map(({ system, turns }) => {
    let atSeconds = 0;
    return {
      conversation: anthropicMessages.read({ system: words(system), max_tokens: 100, messages: [] }),
      turns: turns.map(({ size, idleSeconds, outputTokens, isNewTask }, turn) => {
        atSeconds += idleSeconds;
        const results = callAndResult(`toolu_${turn}`, size);
        const next = [{ role: 'assistant', content: 'Done.' }, ask(`Now task ${turn}.`)];
        const added = turn === 0 ? [ask('Mend the kiln.')] : [...results, ...(isNewTask ? next : [])];
        return { added, atSeconds, outputTokens };
      }),
    };
  });

/** A model that answers with so many words, or not at all. */
function model(answer: { words?: number; isDown?: boolean } = {}) {
  const calls: number[] = [];
  const summarizer: Summarizer = {
    name: 'scripted',
    asksModel: true,
    summarize: async ({ messages, estimator, maximumTokens }) => {
      calls.push(messages.length);
      const usage = { promptTokens: Math.round(estimator.countMessages(messages)), outputTokens: 200 };
      if (answer.isDown === true) return { status: 'failed', reason: 'upstream', message: 'down', usage };
      const count = answer.words ?? Math.min(50, Math.floor(maximumTokens / 4));
      return { status: 'summarized', text: words(count), usage };
    },
  };
  return { summarizer, calls };
}

const runs = { numRuns: Number(process.env['ROUNDFOLD_RUNS'] ?? 60) };

describe('generated sessions', () => {
  const strategies = ['ladder', 'clear-tool-results', 'sliding-window', 'summarize'];

  const share = fc.double({ min: 0.05, max: 0.8, noNaN: true });

  test.prop([generated, fc.constantFrom(...models), fc.constantFrom(...strategies), share], runs)(
    'cost at no time more than none in a window that they only just fit',
    async (session, name, strategy, targetShare) => {
      const none = await send(session, { model: name });
      const targetTokens = Math.floor(none.largestPrompt * targetShare);
      const options = { ...justFitting(none), strategy, target: targetTokens };
      const followed = await send(session, { model: name, options });

      expect(largestExcess(followed, none)).toBeLessThanOrEqual(1e-9);
    },
  );

  test.prop([generated, fc.constantFrom(...models), fc.constantFrom('ladder', 'summarize'), share], runs)(
    'cost at no time more with a model that writes summaries either',
    async (session, name, strategy, targetShare) => {
      const none = await send(session, { model: name });
      const { summarizer } = model();
      const targetTokens = Math.floor(none.largestPrompt * targetShare);
      const options = { ...justFitting(none), strategy, summarizer, target: targetTokens };
      const followed = await send(session, { model: name, options });

      expect(largestExcess(followed, none)).toBeLessThanOrEqual(1e-9);
    },
  );
});

/** A strategy that counts its runs. */
function counted(name = 'token-budget') {
  const inner = createStrategy(name);
  const seen: number[] = [];
  const strategy: Strategy = {
    name,
    compact(conversation, context) {
      seen.push(context.targetTokens);
      return inner.compact(conversation, context);
    },
  };
  return { strategy, runs: seen };
}

const sonnet = pricesOf('claude-sonnet-5-5');
const HOUR = 3600;
/** About 1,100 tokens for each round. */
const session = (rounds: number): readonly unknown[] => [
  ask('Mend the kiln. Never open the valve.'),
  ...Array.from({ length: rounds }, (_, round) => callAndResult(`toolu_${round}`, 500)).flat(),
];
const messages = deepFreeze(session(48));
/** In this window they are between the target and the trigger. */
const roomy = { windowTokens: 1_000_000, trigger: 60_000, prices: sonnet };
const saved = { ...emptyLedger, actualCost: 1, noneCost: 2 };

describe('maybeCompact below the trigger', () => {
  const run = async (options: Partial<CompactorOptions>, call: CallOptions, value: unknown = messages) => {
    const { strategy, runs: seen } = counted();
    const events: CompactionEvent[] = [];
    const onEvent = (event: CompactionEvent) => events.push(event);
    const compactor = createCompactor({ ...roomy, strategy, onEvent, ...options });
    const result = await compactor.maybeCompact(value, call);
    return { compactor, result, events, runs: seen };
  };

  it('compacts when the cache has expired, and says what it costs and why', async () => {
    const { result, events, compactor } = await run({}, { idleSeconds: HOUR });

    expect(result.outcome.status).toBe('compacted');
    expect(result.advice).toMatchObject({
      verdict: 'compact-now',
      reason: 'cache-expired',
      quote: { isCacheExpired: true, breakEvenTurns: 0 },
    });
    expect(result.advice?.quote.extraCost).toBeLessThan(0);
    expect(events.map(({ type }) => type)).toEqual([
      'compaction-advice',
      'compaction-start',
      'compaction-end',
    ]);
    expect(events[0]).toMatchObject({ verdict: 'compact-now', reason: 'cache-expired' });
    expect(JSON.stringify(events[0])).not.toContain('kiln');
    expect(compactor.state.compactionCount).toBe(1);
    expect(savedSoFar(compactor.ledger)).toBeGreaterThan(0);
  });

  it.each<{ title: string; options?: Partial<CompactorOptions>; call: CallOptions; value?: unknown }>([
    { title: 'it is the first request, and nobody says how long it was idle', call: {} },
    { title: 'the cache is warm and nothing was saved', call: { idleSeconds: 10 } },
    { title: 'it is switched off', options: { economy: false }, call: { idleSeconds: HOUR } },
    { title: 'nobody knows the prices', options: { prices: undefined }, call: { idleSeconds: HOUR } },
    { title: 'it is hardly above its target', call: { idleSeconds: HOUR }, value: session(22) },
    {
      title: 'automatic runs are paused',
      options: { state: { ...initialAutoCompactState, pausedTurns: 3, reason: 'summary-upstream' } },
      call: { idleSeconds: HOUR },
    },
  ])('does not even plan when $title', async ({ options = {}, call, value }) => {
    const { result, runs: seen, events } = await run(options, call, value);

    expect(seen).toEqual([]);
    expect(events).toEqual([]);
    expect(result.value).toBe(value ?? messages);
    expect(result).not.toHaveProperty('advice');
    expect(result.outcome).toMatchObject({ status: 'skipped', reason: 'below-trigger' });
  });

  it('gets below the price step for long prompts, however far the trigger is', async () => {
    const { input, output } = sonnet.prices;
    const longContext = {
      ...sonnet.prices,
      abovePromptTokens: 40_000,
      input: 20 * input,
      cacheRead: 5,
      output,
    };
    const prices = { ...sonnet, prices: { ...sonnet.prices, longContext } };
    const { result, runs: seen } = await run({ prices, trigger: 900_000 }, { idleSeconds: 10 });

    expect(result).toMatchObject({ outcome: { status: 'compacted' }, advice: { reason: 'price-step' } });
    expect(seen[0]).toBeLessThanOrEqual(24_000);
  });

  it('spends what was saved, and no more', async () => {
    const rich = await run({ ledger: saved, target: 10_000 }, { idleSeconds: 10 }, [
      ...session(48),
      ask('And now the door.'),
    ]);
    const poor = await run({ ledger: { ...saved, noneCost: 1.0001 }, target: 10_000 }, { idleSeconds: 10 }, [
      ...session(48),
      ask('And now the door.'),
    ]);

    expect(rich.result).toMatchObject({
      outcome: { status: 'compacted' },
      advice: { reason: 'paid-from-savings' },
    });
    expect(poor.result.outcome).toMatchObject({
      status: 'skipped',
      reason: expect.stringMatching(/^economics-/),
      message: expect.stringMatching(/^Wait: .*\$/),
    });
    expect(poor.result.advice?.verdict).toBe('wait');
    expect(poor.events.map(({ type }) => type)).toEqual(['compaction-advice']);
  });

  it('does not plan again for the same chance until the request has grown by a tenth', async () => {
    const { strategy, runs: seen } = counted();
    const compactor = createCompactor({ ...roomy, strategy, ledger: { ...saved, noneCost: 1.0001 } });
    const counts: number[] = [];
    for (const rounds of [44, 44, 46, 49]) {
      await compactor.maybeCompact(session(rounds), { idleSeconds: 10 });
      counts.push(seen.length);
    }
    await compactor.maybeCompact(session(50), { idleSeconds: HOUR });

    expect([...counts, seen.length]).toEqual([1, 1, 1, 2, 3]);
  });

  it('tells what a compaction costs that has to be, at the trigger and by hand', async () => {
    const due = await run({ trigger: 30_000 }, { idleSeconds: 10 });
    const compactor = createCompactor({ ...roomy, strategy: 'token-budget' });
    const manual = await compactor.compact(messages, { idleSeconds: 10 });

    expect(due.result.advice).toMatchObject({ verdict: 'compact-now', reason: 'window-full' });
    expect(due.events.map(({ type }) => type)).toEqual([
      'compaction-start',
      'compaction-advice',
      'compaction-end',
    ]);
    expect(manual).toMatchObject({
      outcome: { status: 'compacted' },
      advice: { quote: { isCacheExpired: false } },
    });
  });

  it('takes the cache to be warm at the trigger when nobody knows how long it was idle', async () => {
    const { result } = await run({ trigger: 30_000 }, {});

    expect(result.outcome.status).toBe('compacted');
    expect(result.advice).toMatchObject({ reason: 'window-full', quote: { isCacheExpired: false } });
  });
});

describe('a model that writes summaries', () => {
  const summarizing = { ...roomy, strategy: 'summarize' };
  // Nothing is cached, so that a summary is soon paid.
  const uncached = { ...summarizing, prices: { prices: { input: 2, output: 10 } }, ledger: saved };

  it('is not asked before the advice, and not at all when that says wait', async () => {
    const { summarizer, calls } = model();
    const ledger = { ...saved, noneCost: 1.0001 };
    const compactor = createCompactor({ ...summarizing, summarizer, ledger });
    const { outcome, advice } = await compactor.maybeCompact(messages, { idleSeconds: 10 });

    expect(outcome.reason).toMatch(/^economics-/);
    expect(advice?.quote.rewriteCost).toBeGreaterThan(0.1);
    expect(calls).toEqual([]);
  });

  it('is asked once when the advice says so, and its call is paid in the ledger', async () => {
    const { summarizer, calls } = model();
    const long = [...session(48), ask('And now the door.')];
    const compactor = createCompactor({ ...uncached, summarizer });
    const { outcome, value } = await compactor.maybeCompact(long, { idleSeconds: HOUR });
    const free = createCompactor({ ...uncached, summarizer: memory });
    await free.maybeCompact(long, { idleSeconds: HOUR });

    expect(outcome).toMatchObject({ status: 'compacted', usage: { outputTokens: 200 } });
    expect(value.length).toBeLessThan(long.length);
    expect(calls).toHaveLength(1);
    expect(compactor.ledger.actualCost).toBeGreaterThan(free.ledger.actualCost);
  });

  it('is paid although it fails, and pauses as at the trigger while ours takes over', async () => {
    const { summarizer, calls } = model({ isDown: true });
    const compactor = createCompactor({ ...uncached, summarizer });
    const free = createCompactor({ ...uncached, summarizer: memory });
    for (let turn = 0; turn < 6; turn++) {
      const list = [...session(48), ...Array.from({ length: turn }, () => ask('?'))];
      for (const each of [compactor, free]) await each.maybeCompact(list, { idleSeconds: HOUR });
    }

    expect(calls).toHaveLength(3);
    expect(compactor.state.summarizer?.pausedTurns).toBeGreaterThan(0);
    expect(savedSoFar(compactor.ledger)).toBeLessThan(savedSoFar(free.ledger));
  });

  it('does not plan with a model where none is needed', async () => {
    const { summarizer, calls } = model();
    const compactor = createCompactor({ ...roomy, trigger: 80_000, strategy: 'ladder', summarizer });
    const { outcome } = await compactor.maybeCompact(session(64), { idleSeconds: HOUR });

    expect(outcome).toMatchObject({ status: 'compacted', usage: undefined });
    expect(calls).toEqual([]);
  });

  it('is stopped by the caller, and nothing counts', async () => {
    const stop = new AbortController();
    const { summarizer } = model();
    const stopping: Summarizer = {
      ...summarizer,
      summarize(request) {
        stop.abort();
        return summarizer.summarize(request);
      },
    };
    const compactor = createCompactor({ ...uncached, summarizer: stopping });
    const call = { idleSeconds: HOUR, signal: stop.signal };
    const { outcome, value } = await compactor.maybeCompact([...messages, ask('?')], call);

    expect(outcome).toMatchObject({ status: 'failed', reason: 'aborted' });
    expect(value).toHaveLength(messages.length + 1);
    expect(compactor.state).toEqual(initialAutoCompactState);
    expect(compactor.ledger).toEqual(saved);
  });
});

describe('economy: false', () => {
  it('is the same as no economics at all, whatever is told', async () => {
    const results = await Promise.all(
      [{ economy: false, prices: sonnet }, { prices: undefined }].map(async (options) => {
        const events: CompactionEvent[] = [];
        const onEvent = (event: CompactionEvent) => events.push(event);
        const compactor = createCompactor({ ...roomy, ...options, onEvent, ledger: saved });
        const found: unknown[] = [];
        let list: readonly unknown[] = [];
        for (let round = 1; round < 80; round++) {
          list = [...list, ...(round === 1 ? session(1) : session(round).slice(-2))];
          const { value, ...rest } = await compactor.maybeCompact(list, {
            idleSeconds: round % 3 === 0 ? HOUR : 5,
          });
          found.push([JSON.stringify([value, rest]), compactor.state]);
          list = value;
        }
        return { found, events: JSON.stringify(events), ledger: compactor.ledger };
      }),
    );

    expect(results[0]).toEqual(results[1]);
    expect(results[0]?.ledger).toBe(saved);
    expect(results[0]?.events).toContain('compaction-end');
    expect(results[0]?.events).not.toContain('compaction-advice');
  });
});

describe('the ledger', () => {
  const compactorWith = (options: Partial<CompactorOptions> = {}) =>
    createCompactor({ ...roomy, strategy: 'token-budget', ...options });

  it('goes on from a store as if nothing had happened', async () => {
    const drive = async (isStored: boolean) => {
      let compactor = compactorWith();
      let list: readonly unknown[] = session(0);
      for (let round = 1; round < 54; round++) {
        list = [...list, ...session(round).slice(-2)];
        const stored = JSON.parse(JSON.stringify(compactor.ledger)) as typeof compactor.ledger;
        if (isStored) compactor = compactorWith({ ledger: stored });
        const { value } = await compactor.maybeCompact(list, { idleSeconds: round === 47 ? HOUR : 20 });
        // As a store gives it back: equal, and not the same.
        list = JSON.parse(JSON.stringify(value)) as unknown[];
      }
      return compactor.ledger;
    };
    const whole = await drive(false);

    expect(savedSoFar(whole)).toBeGreaterThan(0);
    expect(await drive(true)).toEqual(whole);
  });

  it('enters a request once, however often it is asked about', async () => {
    const compactor = compactorWith();
    await compactor.maybeCompact(session(5), { idleSeconds: 20 });
    const once = compactor.ledger;
    await compactor.maybeCompact(session(5), { idleSeconds: 20 });

    expect(compactor.ledger).toEqual(once);
  });

  it('counts a compaction by hand once a request goes on from it, and else only what it cost', async () => {
    const used = compactorWith();
    const unused = compactorWith();
    for (const compactor of [used, unused]) await compactor.maybeCompact(messages, { idleSeconds: 20 });
    const { value } = await used.compact(messages, { idleSeconds: 20 });
    await unused.compact(messages, { idleSeconds: 20 });
    const next = session(49).slice(-2);
    await used.maybeCompact([...value, ...next], { idleSeconds: 20 });
    await unused.maybeCompact([...messages, ...next], { idleSeconds: 20 });

    expect(used.ledger.noneTokens).toBe(unused.ledger.noneTokens);
    expect(used.ledger.actualTokens).toBeLessThan(unused.ledger.actualTokens);
    expect(used.ledger.noneCost).toBeCloseTo(unused.ledger.noneCost, 9);
    expect(savedSoFar(used.ledger)).toBeLessThan(0);
    expect(savedSoFar(unused.ledger)).toBe(0);
  });

  it('claims no savings for a conversation that does not go on from what was sent', async () => {
    const compactor = compactorWith();
    await compactor.maybeCompact(messages, { idleSeconds: HOUR });
    const before = savedSoFar(compactor.ledger);
    await compactor.maybeCompact([ask('Something else.'), ...session(4).slice(1)], { idleSeconds: 20 });

    expect(before).toBeGreaterThan(0);
    expect(savedSoFar(compactor.ledger)).toBeCloseTo(before, 12);
  });

  it('takes the cache to be warm when nobody knows', async () => {
    const [told, untold] = [compactorWith(), compactorWith()];
    for (const rounds of [3, 4]) {
      await told.maybeCompact(session(rounds), { idleSeconds: 0 });
      await untold.maybeCompact(session(rounds));
    }

    expect(untold.ledger).toEqual(told.ledger);
  });
});
