import { describe, expect, it } from 'vitest';
import { initialAutoCompactState } from '../../src/compaction/breaker.ts';
import { createCompactor } from '../../src/compaction/compactor.ts';
import { withTimeout } from '../../src/compaction/decorators/with-timeout.ts';
import type { CompactionEvent, CompactorOptions } from '../../src/compaction/options.ts';
import { notCompacted, type Strategy } from '../../src/compaction/plan/strategy.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import type { SummaryOutcome } from '../../src/memory/summary-request.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { errorsOf, good, scripted, session, words } from '../support/probing-session.ts';

describe('maybeCompact', () => {
  it('gives the very same value back below the trigger, and asks nobody', async () => {
    const { summarizer, calls } = scripted(() => good('x'));
    const compactor = createCompactor({ windowTokens: 200_000, summarizer });
    const messages = deepFreeze(session(3));

    expect(await compactor.maybeCompact(messages)).toMatchObject({
      value: messages,
      outcome: { status: 'skipped', reason: 'below-trigger' },
    });
    expect((await compactor.maybeCompact(messages)).value).toBe(messages);
    expect(calls).toEqual([]);
  });

  it('stops paying for summaries that are used up as soon as they are there, and goes on without a model', async () => {
    const { summarizer, calls } = scripted((call) => good(`summary ${call}`));
    const events: CompactionEvent[] = [];
    const compactor = createCompactor({
      windowTokens: 40_000,
      summarizer,
      strategy: 'summarize',
      options: { keepRounds: 1 },
      onEvent: (event) => void events.push(event),
    });
    let messages = session(0);
    for (let round = 0; round < 30; round++) {
      // Every round fills more than a third of what there is until the trigger.
      messages = [...messages, ...session(round + 1, 4500).slice(-2)];
      messages = [...(await compactor.maybeCompact(messages)).value];
      expect(errorsOf(messages)).toEqual([]);
    }

    const pauses = events.filter(({ type }) => type.endsWith('-paused'));
    const runs = events.filter(
      (event) => event.type === 'compaction-end' && event.outcome.status === 'compacted',
    );
    expect(pauses[0]).toEqual({ type: 'summarizer-paused', reason: 'rapid-refill', turns: 10 });
    // Four until it is clear, none for ten turns, and four more by the end.
    expect(calls.length).toBe(8);
    expect(runs.length).toBeGreaterThan(calls.length);
    expect(compactor.state.compactionCount).toBe(runs.length);
  });

  it('needs at most 3 summaries for 40 tool rounds in one user turn, and stays legal throughout', async () => {
    const { summarizer, calls } = scripted((_call, input) => good(`${input} messages were read`));
    const compactor = createCompactor({ windowTokens: 12_000, summarizer, strategy: 'summarize' });
    let messages = session(0);
    for (let round = 0; round < 40; round++) {
      messages = [...messages, ...session(round + 1).slice(-2)];
      const { value } = await compactor.maybeCompact(deepFreeze(messages));
      expect(errorsOf(value)).toEqual([]);
      expect(value[0]).toBe(messages[0]);
      messages = value;
    }

    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(3);
  });

  it.each<{ kind: string; answer: (call: number, input: number) => SummaryOutcome }>([
    {
      kind: 'always fails',
      answer: () => ({ status: 'failed', reason: 'upstream', message: 'down', usage: undefined }),
    },
    {
      kind: 'returns nothing',
      answer: () => ({ status: 'failed', reason: 'empty', message: 'nothing', usage: undefined }),
    },
    { kind: 'returns its input', answer: () => good(words(6000)) },
    { kind: 'grows', answer: (call) => good(words(6000 + call * 500)) },
  ])(
    'asks a summarizer that $kind at most 3 times, then once per cool-down, and compacts without it',
    async ({ answer }) => {
      const { summarizer, calls } = scripted(answer);
      const events: CompactionEvent[] = [];
      const compactor = createCompactor({
        windowTokens: 8000,
        summarizer,
        strategy: 'summarize',
        onEvent: (event) => events.push(event),
      });
      const messages = deepFreeze(session(24));
      const turn = async () => {
        const { value, outcome } = await compactor.maybeCompact(messages);
        expect(outcome.status).toBe('compacted');
        expect(value.length).toBeLessThan(messages.length);
        expect(errorsOf(value)).toEqual([]);
      };
      for (let count = 0; count < 4; count++) await turn();
      const atFirst = calls.length;
      expect(atFirst).toBe(3);
      expect(compactor.state.summarizer).toMatchObject({ failures: 3, reason: expect.any(String) });
      for (let count = 0; count < 33; count++) await turn();

      expect(calls.length - atFirst).toBe(3);
      expect(events.filter(({ type }) => type === 'summarizer-failed')).toHaveLength(calls.length);
      expect(events.filter(({ type }) => type === 'summarizer-paused')).toHaveLength(4);
      expect(events.some(({ type }) => type === 'compaction-paused')).toBe(false);
    },
  );

  describe('aborted by the caller', () => {
    // More than the window holds, so that the emergency would be at hand.
    const messages = deepFreeze(session(40));
    const stopping = (stop: AbortController, then: () => SummaryOutcome) =>
      scripted(() => {
        stop.abort();
        return then();
      }).summarizer;
    const failed = (): SummaryOutcome => ({
      status: 'failed',
      reason: 'upstream',
      message: 'connection closed',
      usage: { promptTokens: 10, outputTokens: 0 },
    });

    it.each<{ title: string; options: (stop: AbortController) => Partial<CompactorOptions> }>([
      {
        title: 'while a summary is written',
        options: (stop) => ({ strategy: 'summarize', summarizer: stopping(stop, failed) }),
      },
      {
        title: 'between two rungs, although the next one would have helped',
        options: (stop) => ({ strategy: 'ladder', summarizer: stopping(stop, failed) }),
      },
      {
        title: 'too late to stop the summary',
        options: (stop) => ({ strategy: 'summarize', summarizer: stopping(stop, () => good('fine')) }),
      },
      {
        title: 'inside a timeout',
        options: (stop) => {
          const inner = createStrategy('summarize');
          const strategy: Strategy = {
            name: 'hanging',
            compact: (...run) => {
              stop.abort();
              return inner.compact(...run);
            },
          };
          return { strategy: withTimeout(strategy, { timeoutMs: 60_000 }) };
        },
      },
      {
        title: 'in a strategy that throws',
        options: (stop) => ({
          strategy: {
            name: 'throwing',
            compact: async (_conversation, { signal }) => {
              stop.abort();
              signal?.throwIfAborted();
              throw new Error('not reached');
            },
          },
        }),
      },
    ])('$title, a run gives the same value back and counts for nothing', async ({ options }) => {
      const stop = new AbortController();
      const compactor = createCompactor({ windowTokens: 8000, ...options(stop) });
      const { value, outcome } = await compactor.maybeCompact(messages, { signal: stop.signal });

      expect(stop.signal.aborted).toBe(true);
      expect(value).toBe(messages);
      expect(outcome).toMatchObject({ status: 'failed', reason: 'aborted' });
      expect(compactor.state).toEqual(initialAutoCompactState);
    });

    it('asks nobody when it was aborted before, and never pauses for it', async () => {
      const { summarizer, calls } = scripted(() => good('x'));
      const compactor = createCompactor({ windowTokens: 8000, summarizer, strategy: 'summarize' });
      for (let turn = 0; turn < 5; turn++) {
        const { value, outcome } = await compactor.maybeCompact(messages, { signal: AbortSignal.abort() });
        expect({ value, reason: outcome.reason }).toEqual({ value: messages, reason: 'aborted' });
      }

      expect(calls).toEqual([]);
      expect((await compactor.maybeCompact(messages)).outcome.status).toBe('compacted');
    });

    it('tells what was spent until then', async () => {
      const stop = new AbortController();
      const { summarizer, calls } = scripted((call) => {
        if (call > 1) stop.abort();
        return { ...failed(), reason: 'input-too-long' } as SummaryOutcome;
      });
      const compactor = createCompactor({ windowTokens: 8000, strategy: 'summarize', summarizer });
      const { outcome } = await compactor.maybeCompact(messages, { signal: stop.signal });

      expect(calls).toHaveLength(2);
      expect(outcome).toMatchObject({ reason: 'aborted', usage: { promptTokens: 10, outputTokens: 0 } });
    });

    it('a run that took too long is a failure of its own', async () => {
      const never: Strategy = { name: 'never', compact: () => new Promise(() => undefined) };
      const strategy = withTimeout(never, { timeoutMs: 1, after: () => Promise.resolve() });
      const compactor = createCompactor({ windowTokens: 8000, strategy });
      const { outcome } = await compactor.maybeCompact(messages, { signal: new AbortController().signal });

      expect(outcome).toMatchObject({ status: expect.stringMatching(/failed|compacted/) });
      expect(compactor.state.consecutiveFailures).toBe(1);
    });
  });

  it('runs by hand although automatic runs are paused, and that ends the pause', async () => {
    const inner = createStrategy('summarize');
    let runs = 0;
    const strategy: Strategy = {
      name: 'moody',
      compact: async (...run) =>
        ++runs <= 3 ? notCompacted('failed', 'moody', 'not today') : inner.compact(...run),
    };
    const compactor = createCompactor({ windowTokens: 8000, strategy });
    const messages = session(24);
    for (let turn = 0; turn < 5; turn++) await compactor.maybeCompact(messages);
    expect(compactor.state).toMatchObject({ pausedTurns: expect.any(Number), reason: 'moody' });
    expect(runs).toBe(3);

    expect((await compactor.compact(messages)).outcome.status).toBe('compacted');
    expect(compactor.state).toMatchObject({ pausedTurns: 0, compactionCount: 1 });
  });

  it('remembers a pause that was stored', async () => {
    const { summarizer, calls } = scripted(() => good('x'));
    const first = createCompactor({ windowTokens: 8000, summarizer, strategy: 'summarize' });
    const state = JSON.parse(JSON.stringify({ ...first.state, pausedTurns: 5, reason: 'summary-upstream' }));
    const second = createCompactor({ windowTokens: 8000, summarizer, strategy: 'summarize', state });

    expect((await second.maybeCompact(session(24))).outcome).toMatchObject({
      status: 'skipped',
      reason: 'paused',
    });
    expect(calls).toEqual([]);
  });

  it.each(
    [4000, 16_000, 64_000, 200_000, 1_000_000].flatMap((windowTokens) =>
      [1, 1.02].map((share) => ({ windowTokens, share })),
    ),
  )(
    'asks nobody when instructions take $share of the trigger in a window of $windowTokens, and says so',
    async ({ windowTokens, share }) => {
      const { summarizer, calls } = scripted(() => good('x'));
      const compactor = createCompactor({ windowTokens, summarizer, strategy: 'summarize' });
      const system = words(Math.floor((compactor.thresholds.triggerTokens * share) / 2.05));
      const body = deepFreeze({ system, max_tokens: 100, messages: session(8, 1) });
      const { value, outcome } = await compactor.maybeCompact(body);

      expect(calls).toEqual([]);
      expect(value).toBe(body);
      expect(outcome).toMatchObject({
        status: 'insufficient',
        message: expect.stringContaining('the instructions'),
      });
    },
  );

  it('trusts a reported usage that is near its own count, and no other', async () => {
    const compactor = createCompactor({ windowTokens: 30_000, strategy: 'sliding-window' });
    const messages = session(50);
    const quiet = await compactor.maybeCompact(messages);
    const warned = await compactor.maybeCompact(messages, {
      usage: { promptTokens: 17_900, outputTokens: 100 },
    });
    const absurd = await compactor.maybeCompact(messages, {
      usage: { promptTokens: 4_623_740, outputTokens: 0 },
    });

    expect([quiet, absurd].map(({ outcome }) => outcome.reason)).toEqual(['below-trigger', 'below-trigger']);
    expect(warned.outcome.status).toBe('compacted');
  });
});

describe('compact', () => {
  it('returns a body in the shape it was given', async () => {
    const body = {
      model: 'claude-opus-4-5',
      max_tokens: 10,
      metadata: { user_id: 'u' },
      messages: session(40),
    };
    const { value, outcome } = await createCompactor({
      model: 'claude-opus-4-5',
      strategy: 'sliding-window',
    }).compact(body);

    expect(outcome.status).toBe('compacted');
    expect(value).toMatchObject({ model: 'claude-opus-4-5', metadata: { user_id: 'u' } });
    expect(value.messages.length).toBeLessThan(15);
  });

  it('refuses a strategy or an option that does not exist, with what does', () => {
    expect(() => createCompactor({ windowTokens: 0, strategy: 'magic' })).toThrow(/unknown strategy "magic"/);
    expect(() => createCompactor({ windowTokens: 0, strategy: 'snip', options: { keepLast: 3 } })).toThrow(
      /snip has no option "keepLast"/,
    );
    expect(() =>
      createCompactor({ windowTokens: 0, strategy: 'summarize', options: { minGain: 2 } }),
    ).toThrow(/at most 1/);
  });
});
