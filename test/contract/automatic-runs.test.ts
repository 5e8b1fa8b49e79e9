import { describe, expect, it } from 'vitest';
import {
  afterOutcome,
  createStrategy,
  initialAutoCompactState,
  notCompacted,
  requestTokens,
} from '../../src/compaction/strategies/index.ts';
import {
  type AutoCompactState,
  type CompactionEvent,
  changeOf,
  createCompactor,
  createTokenEstimator,
  shouldAutoCompact,
  summarize,
  writeConversation,
} from '../../src/index.ts';
import { anthropic, errorsOf, estimator, rawsOf, recording, toolSession } from '../support/small-sessions.ts';
import { strategyContext } from '../support/strategy-context.ts';

describe('an automatic run', () => {
  it.each([
    { tokens: 0, reads: 0, runs: 'below-trigger', asked: 0 },
    { tokens: 50_000, reads: 0, runs: 'below-trigger', asked: 0 },
    { tokens: 140_000, reads: 100_000, runs: 'below-trigger', asked: 0 },
    { tokens: 170_000, reads: 120_000, runs: 'collapse-reads', asked: 0 },
    { tokens: 185_000, reads: 0, runs: 'summarize', asked: 1 },
  ])('of $tokens in 200,000 tokens, $reads of them stale reads: $runs', async (row) => {
    const { requests, summarizer } = recording();
    const compactor = createCompactor({ windowTokens: 200_000, summarizer });
    const { outcome } = await compactor.maybeCompact(readSession(row.tokens, row.reads));

    expect(outcome.reason).toBe(row.runs);
    expect(requests.length).toBe(row.asked);
  });

  it('is no run below the trigger: sixty turns ask for nothing and give the very same list back', async () => {
    const { requests, summarizer } = recording();
    const countTokens = (text: string) => text.length;
    const compactor = createCompactor({ windowTokens: 100_000, summarizer, countTokens });
    for (let turn = 1; turn <= 60; turn++) {
      const messages = rawsOf(toolSession(turn));
      const { value, outcome } = await compactor.maybeCompact(messages);
      expect(outcome).toMatchObject({ status: 'skipped', reason: 'below-trigger' });
      expect(value).toBe(messages);
    }

    expect(requests).toEqual([]);
  });

  it('keeps what a run by hand keeps, and what one after a refusal keeps', async () => {
    const runs = (['auto', 'manual', 'overflow'] as const).map((trigger) =>
      summarize().compact(toolSession(30), strategyContext({ estimator, targetTokens: 5000, trigger })),
    );
    const [automatic, ...others] = (await Promise.all(runs)).map((outcome) =>
      rawsOf(changeOf(outcome)?.conversation ?? { messages: [] }),
    );

    expect(automatic?.length).toBeGreaterThan(0);
    expect(others).toEqual([automatic, automatic]);
  });

  it('is told from one by hand in the events', async () => {
    const events: CompactionEvent[] = [];
    const compactor = createCompactor({ windowTokens: 2000, onEvent: (event) => events.push(event) });
    const messages = rawsOf(toolSession(30));
    await compactor.maybeCompact(messages);
    await compactor.compact(messages);
    const triggers = events.flatMap((event) => ('trigger' in event ? [event.trigger] : []));

    expect(triggers).toEqual(['auto', 'auto', 'manual', 'manual']);
  });

  it('goes by a state that was stored and read again', () => {
    const failed = notCompacted('failed', 'illegal-plan', 'a bug');
    const twice = afterOutcome(afterOutcome(initialAutoCompactState, failed), failed);
    const stored = JSON.parse(JSON.stringify(twice)) as AutoCompactState;

    expect(shouldAutoCompact(195_000, 200_000, stored)).toBe(true);
    expect(shouldAutoCompact(195_000, 200_000, afterOutcome(stored, failed))).toBe(false);
  });
});

describe('a target below what cannot leave', () => {
  const windows = [4_000, 8_192, 32_000, 128_000, 200_000];
  const floors = windows.flatMap((windowTokens) =>
    [0.8, 0.9, 1, 1.2].map((share) => ({ windowTokens, share })),
  );
  /** A session whose system prompt alone has this share of the trigger. */
  const sessionOf = (triggerTokens: number, share: number) =>
    anthropic({
      system: 's'.repeat(Math.ceil(triggerTokens * share)),
      messages: rawsOf(toolSession(20, Math.ceil(triggerTokens / 20))),
    });

  it.each(floors)(
    'is told with the best there is: $share of the trigger of a window of $windowTokens stays anyway',
    async ({ windowTokens, share }) => {
      const { triggerTokens, targetTokens } = createCompactor({ windowTokens }).thresholds;
      const conversation = sessionOf(triggerTokens, share);
      const context = strategyContext({ estimator, targetTokens, trigger: 'auto' });
      for (const name of ['summarize', 'ladder']) {
        const outcome = await createStrategy(name).compact(conversation, context);
        const best = changeOf(outcome)?.conversation;

        expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
        expect(best && requestTokens(best, estimator)).toBeLessThan(requestTokens(conversation, estimator));
        expect(best && errorsOf(best, writeConversation(best))).toBe(0);
      }
    },
  );

  it('is not paid for over and over: a model that cannot help gets a rest', async () => {
    const usage = { promptTokens: 100, outputTokens: 10 };
    let asked = 0;
    const compactor = createCompactor({
      windowTokens: 8192,
      countTokens: (text) => text.length,
      strategy: 'summarize',
      summarizer: {
        name: 'paid',
        asksModel: true,
        async summarize() {
          asked++;
          return { status: 'summarized', text: 'what happened', usage };
        },
      },
    });
    const { body } = sessionOf(compactor.thresholds.triggerTokens, 1.1).frame;
    for (let turn = 0; turn < 40; turn++) await compactor.maybeCompact(body);

    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(12);
    expect(compactor.state.compactionCount).toBe(40);
  });
});

/** A session of about so many tokens, of which so many are reads of one file that was read again since. */
function readSession(tokens: number, reads: number): readonly unknown[] {
  const line = 'const value = compute(left, right);\n';
  const lineTokens = createTokenEstimator().countText(line.repeat(100)) / 100;
  const use = (id: string, name: string, size: number) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { file_path: 'kiln.ts' } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: id, content: line.repeat(Math.round(size / lineTokens)) },
      ],
    },
  ];
  const stale = reads === 0 ? [] : [reads / 2, reads / 2, 10];
  return [
    { role: 'user', content: 'task' },
    ...stale.flatMap((size, index) => use(`read${index}`, 'Read', size)),
    // What an expert said cannot be had again, so that only a summary makes it smaller.
    ...Array.from({ length: 10 }, (_one, index) =>
      use(`ask${index}`, 'ask_expert', (tokens - reads) / 10),
    ).flat(),
  ];
}
