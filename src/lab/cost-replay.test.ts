import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { breakEvensOf } from '../../bench/cost/break-even.ts';
import { said, tool, user } from '../../test/support/example-cut.ts';
import { type PriceSet, priceSetOf } from '../compaction/economics/costs.ts';
import { replayCost } from '../compaction/economics/prompt-cache.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import { withMessages } from '../conversation/format.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { memory } from '../memory/summarizer.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { findModel } from '../tokens/catalog.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { promptLimitTokens } from '../tokens/thresholds.ts';
import { type CostPolicy, replayCosts } from './cost-replay.ts';
import { type CostSession, costSessionsOf, createPromptMaker } from './cost-session.ts';

const estimator = createTokenEstimator();
const models = ['claude-opus-5-5', 'claude-sonnet-5-5', 'gpt-6.1-sol'];

function pricesOf(model: string): PriceSet {
  const prices = priceSetOf(findModel(model) ?? {});
  if (prices === undefined) throw new Error(`no prices for ${model}`);
  return prices;
}

function policyOf(strategy: string, when: CostPolicy['when'], summarizer: Summarizer = memory): CostPolicy {
  return { planner: { strategy: createStrategy(strategy), summarizer, estimator }, when, targetShare: 0.3 };
}

interface Step {
  readonly words: number;
  readonly idleSeconds: number;
}

/** A session that reads a file in each step. */
function sessionOf(steps: readonly Step[], headTokens = 3000): CostSession {
  let atSeconds = 0;
  const turns = steps.map(({ words, idleSeconds }, index) => {
    atSeconds += idleSeconds;
    const text = Array.from({ length: words }, (_, word) => `mooring${index}x${word}`).join(' ');
    const reading = tool('Read', { file_path: `src/quay-${index}.ts` }, text);
    const added = index === 0 ? [user('Check the quays.')] : reading;
    return { added, atSeconds, outputTokens: 40, isTaskBoundary: index % 7 === 0 };
  });
  return { title: 'main', conversation: anthropicMessages.read({ messages: [] }), headTokens, turns };
}

const steady = sessionOf(Array.from({ length: 40 }, () => ({ words: 300, idleSeconds: 30 })));
const paused = sessionOf(
  Array.from({ length: 40 }, (_, index) => ({ words: 300, idleSeconds: index === 20 ? 90_000 : 30 })),
);
const window = { windowTokens: 200_000, estimator };

describe('a replayed session', () => {
  test.each(models)('costs for %s without compaction what its requests cost', async (model) => {
    const prices = pricesOf(model);
    const maker = createPromptMaker(steady, estimator);
    const requests = steady.turns.map((turn, index) => ({
      segments: maker.segmentsOf(steady.turns.slice(0, index + 1).flatMap(({ added }) => added)),
      atSeconds: turn.atSeconds,
      outputTokens: turn.outputTokens,
    }));
    const replay = await replayCosts(steady, undefined, { ...window, prices });

    expect(replay.cost).toBeCloseTo(replayCost(requests, prices).cost, 10);
    expect(replay).toMatchObject({ compactions: [], overflows: 0, summaryCost: 0 });
    expect(replay.promptTokens).toHaveLength(40);
  });

  test('is compacted at the trigger again and again, and then fits a window that it would not fit', async () => {
    const options = { prices: pricesOf('claude-sonnet-5-5'), windowTokens: 40_000, estimator };
    const none = await replayCosts(steady, undefined, options);
    const replay = await replayCosts(steady, policyOf('ladder', 'trigger'), options);

    expect(none.overflows).toBeGreaterThan(0);
    expect(replay.overflows).toBe(0);
    expect(replay.compactions.length).toBeGreaterThan(1);
    expect(Math.max(...replay.promptTokens)).toBeLessThanOrEqual(promptLimitTokens(40_000));
    for (const { tokensBefore, tokensAfter } of replay.compactions)
      expect(tokensAfter).toBeLessThan(tokensBefore);
  });

  test('is compacted when the cache has expired anyway, where the advice is asked', async () => {
    const options = { ...window, prices: pricesOf('claude-opus-5-5') };
    const none = await replayCosts(paused, undefined, options);
    const replay = await replayCosts(paused, policyOf('ladder', 'advice'), options);

    expect(replay.compactions.find(({ turn }) => turn === 20)?.reason).toBe('cache-expired');
    expect(replay.cost).toBeLessThan(none.cost);
  });

  test('pays for the summaries that a model writes', async () => {
    const options = { prices: pricesOf('claude-sonnet-5-5'), windowTokens: 40_000, estimator };
    const billed: Summarizer = {
      name: 'billed',
      asksModel: true,
      async summarize(request) {
        const outcome = await memory.summarize(request);
        return { ...outcome, usage: { promptTokens: 20_000, outputTokens: 500 } };
      },
    };
    const unpaid: Summarizer = { ...billed, summarize: (request) => memory.summarize(request) };
    const free = await replayCosts(steady, policyOf('summarize', 'trigger', unpaid), options);
    const paid = await replayCosts(steady, policyOf('summarize', 'trigger', billed), options);

    expect(free.summaryCost).toBe(0);
    expect(paid.summaryCost).toBeGreaterThan(0);
    expect(paid.cost).toBeCloseTo(free.cost + paid.summaryCost, 10);
  });

  test.prop(
    [
      fc.array(
        fc.record({
          words: fc.integer({ min: 0, max: 900 }),
          idleSeconds: fc.constantFrom(5, 60, 299, 400, 4000, 100_000),
        }),
        { minLength: 2, maxLength: 30 },
      ),
      fc.constantFrom(...models),
      fc.constantFrom('ladder', 'clear-tool-results', 'summarize', 'sliding-window'),
    ],
    { numRuns: 60 },
  )(
    'never costs more than without compaction when the advice is followed',
    async (steps, model, strategy) => {
      const session = sessionOf(steps);
      const options = { ...window, prices: pricesOf(model) };
      const none = await replayCosts(session, undefined, options);
      const advised = await replayCosts(session, policyOf(strategy, 'advice'), options);

      expect(advised.cost).toBeLessThanOrEqual(none.cost * (1 + 1e-9));
    },
  );
});

describe('the break-even of a compaction', () => {
  test.each(models)('is quoted for %s within a tenth of what both ways cost by then', async (model) => {
    const { planner } = policyOf('ladder', 'advice');
    const found = await breakEvensOf(steady, { prices: pricesOf(model), planner, targetShare: 0.3 });

    expect(found.length).toBeGreaterThan(0);
    for (const { error, hasPause } of found) {
      expect(hasPause).toBe(false);
      expect(Math.abs(error)).toBeLessThan(0.1);
    }
  });
});

describe('the requests of a recording', () => {
  const messages = [
    user('one'),
    ...tool('Read', { file_path: 'a.ts' }, 'x'),
    said('done'),
    user('two'),
    said('done too'),
  ];
  const conversation = withMessages(anthropicMessages.read({ messages: [] }), messages);
  const transcript = {
    reader: 'json',
    format: 'anthropic-messages',
    title: 'main',
    kind: 'main',
    model: undefined,
    notes: [],
  } as const;
  const originAt = (second: number | undefined) => ({
    place: {},
    timestamp: second === undefined ? undefined : new Date(second * 1000).toISOString(),
    responseId: undefined,
    usage: undefined,
  });
  const recordingWith = (seconds: readonly (number | undefined)[]) => ({
    transcript: {
      ...transcript,
      segments: [{ body: [], origins: seconds.map(originAt), opening: undefined }],
    },
    conversations: [conversation],
  });

  test('are sent before each answer, with what came since the last, at the time of what they end in', () => {
    const [session] = costSessionsOf(recordingWith([10, 20, 30, 40, 50, 60]), { estimator });

    expect(session?.turns.map(({ added }) => added.length)).toEqual([1, 2, 2]);
    expect(session?.turns.map(({ atSeconds }) => atSeconds)).toEqual([10, 30, 50]);
    expect(session?.turns.map(({ isTaskBoundary }) => isTaskBoundary)).toEqual([true, false, true]);
  });

  test('never go back in time, and have the usual head where nothing is known of it', () => {
    const [session] = costSessionsOf(recordingWith([50, 20, undefined, 40, 30, 60]), { estimator });
    const [given] = costSessionsOf(recordingWith([]), { estimator, headTokens: 7 });

    expect(session?.turns.map(({ atSeconds }) => atSeconds)).toEqual([50, 50, 50]);
    expect([session?.headTokens, given?.headTokens]).toEqual([15_000, 7]);
  });

  test('tell the size of their head where the first answer reports it', () => {
    const reported = messages.map((message, index) =>
      index === 1 ? { ...message, usage: { promptTokens: 9000, outputTokens: 1 } } : message,
    );
    const recording = {
      ...recordingWith([]),
      conversations: [withMessages(conversation, reported)],
    };
    const [session] = costSessionsOf(recording, { estimator });

    expect(session?.headTokens).toBeCloseTo(9000 - estimator.countMessages(reported.slice(0, 1)), -1);
  });
});
