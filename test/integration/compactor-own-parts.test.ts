import { describe, expect, it } from 'vitest';
import { initialAutoCompactState } from '../../src/compaction/breaker.ts';
import { type Compactor, createCompactor } from '../../src/compaction/compactor.ts';
import type { CompactionEvent } from '../../src/compaction/options.ts';
import { applyPlan, type Edit } from '../../src/compaction/plan/plan.ts';
import { writeReceipt } from '../../src/compaction/plan/receipt.ts';
import { finish, type Strategy } from '../../src/compaction/plan/strategy.ts';
import type { Summarizer, SummaryOutcome } from '../../src/memory/summary-request.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { errorsOf, good, session } from '../support/probing-session.ts';

const messages = deepFreeze(session(24));
const WINDOW = 8000;

/** A summarizer that never answers and does not listen to its signal. */
function silent() {
  const signals: (AbortSignal | undefined)[] = [];
  const summarizer: Summarizer = {
    name: 'silent',
    asksModel: true,
    summarize: ({ signal }) => {
      signals.push(signal);
      return new Promise<SummaryOutcome>(() => undefined);
    },
  };
  return { summarizer, signals };
}

describe.each(['summarize', 'ladder'])('a summarizer of your own that never answers, in %s', (strategy) => {
  it.each(['compact', 'maybeCompact'] as const)('is left at once when %s is aborted', async (call) => {
    const { summarizer, signals } = silent();
    const stop = new AbortController();
    const compactor = createCompactor({ windowTokens: WINDOW, summarizer, strategy });
    const run = compactor[call](messages, { signal: stop.signal });
    while (signals.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    const { value, outcome } = await run;

    expect(value).toBe(messages);
    expect(outcome).toMatchObject({ status: 'failed', reason: 'aborted' });
    expect(compactor.state).toEqual(initialAutoCompactState);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  it.each(['compact', 'maybeCompact'] as const)(
    'is left when its time is over, and %s goes on with our own memory',
    async (call) => {
      const { summarizer, signals } = silent();
      const events: CompactionEvent[] = [];
      const compactor = createCompactor({
        windowTokens: WINDOW,
        summarizer,
        strategy,
        summarizerTimeout: 5,
        onEvent: (event) => void events.push(event),
      });
      const { value, outcome, summary } = await compactor[call](messages);

      expect(outcome.status).toBe('compacted');
      expect(errorsOf(value)).toEqual([]);
      expect(summary).toMatch(/^Memory of 19 rounds\./);
      expect(summary).not.toContain('By a model');
      expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
      expect(events.filter(({ type }) => type === 'summarizer-failed')).toMatchObject([
        { summarizer: 'silent', reason: 'timed-out' },
      ]);
    },
  );
});

describe('a summarizer that asks through the same compactor', () => {
  it.each(['compact', 'maybeCompact'] as const)('is told once that %s is running already', async (call) => {
    const inner: unknown[] = [];
    let compactor: Compactor | undefined;
    const summarizer: Summarizer = {
      name: 'calling back',
      asksModel: true,
      summarize: async () => {
        for (const again of ['compact', 'maybeCompact'] as const) {
          const result = await compactor?.[again](messages);
          inner.push([result?.value === messages, result?.outcome.status, result?.outcome.reason]);
        }
        return good('the kiln is mended');
      },
    };
    compactor = createCompactor({ windowTokens: WINDOW, summarizer, strategy: 'summarize' });
    const { outcome } = await compactor[call](messages);

    expect(outcome.status).toBe('compacted');
    expect(inner).toEqual([
      [true, 'skipped', 'nested'],
      [true, 'skipped', 'nested'],
    ]);
    expect((await compactor.compact(messages)).outcome.status).toBe('compacted');
  });
});

/** A strategy that makes these edits, through `finish` or past it. */
function making(edits: readonly Edit[], { isChecked }: { readonly isChecked: boolean }): Strategy {
  return {
    name: 'own',
    compact: async (conversation, context) => {
      if (isChecked) return finish(conversation, edits, context, { strategy: 'own', reason: 'made' });
      const plan = { steps: [edits] };
      const applied = applyPlan(conversation, plan);
      const { estimator } = context;
      const receipt = writeReceipt(conversation, applied, { estimator, strategy: 'own' });
      return { status: 'compacted', reason: 'made', ...applied, plan, receipt };
    },
  };
}

/** Takes a call and leaves its result. */
const parting: readonly Edit[] = [{ type: 'drop', start: 1, end: 2 }];
/** Takes the newest result and its call. */
const forgetful: readonly Edit[] = [{ type: 'drop', start: messages.length - 2, end: messages.length }];
const legal: readonly Edit[] = [{ type: 'drop', start: 1, end: 21 }];

describe('a strategy of your own', () => {
  it.each([
    { title: 'parts a call from its result', edits: parting },
    { title: 'touches the current turn', edits: forgetful },
  ])('that $title fails, and nothing is changed', async ({ edits }) => {
    for (const call of ['compact', 'maybeCompact'] as const) {
      const compactor = createCompactor({
        windowTokens: WINDOW,
        strategy: making(edits, { isChecked: true }),
      });
      const { value, outcome } = await compactor[call](messages);

      expect(outcome).toMatchObject({ status: 'failed', reason: 'illegal-plan' });
      expect(value).toBe(messages);
    }
  });

  it('that makes an illegal request past all checks is refused, and nothing is changed', async () => {
    for (const call of ['compact', 'maybeCompact'] as const) {
      const strategy = making(parting, { isChecked: false });
      const { value, outcome } = await createCompactor({ windowTokens: WINDOW, strategy })[call](messages);

      expect(outcome).toMatchObject({ status: 'failed', reason: 'illegal-output' });
      expect(value).toBe(messages);
    }
  });

  it.each([true, false])('that makes a legal one is taken (checked by itself: %s)', async (isChecked) => {
    const strategy = making(legal, { isChecked });
    const { value, outcome } = await createCompactor({ windowTokens: WINDOW, strategy }).compact(messages);

    expect(outcome.status).toBe('compacted');
    expect(value).toEqual([messages[0], ...messages.slice(21)]);
  });
});
