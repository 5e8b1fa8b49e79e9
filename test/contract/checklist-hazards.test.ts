import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  afterOutcome,
  createStrategy,
  findFormat,
  initialAutoCompactState,
  type Message,
  strategies,
  thresholdsFor,
  withMessages,
} from '../../src/index.ts';
import {
  anthropic,
  estimator,
  rawsOf,
  recording,
  summariesIn,
  toolRound,
  toolSession,
} from '../support/checklist.ts';
import { type Step, steps, writers } from '../support/conversations.ts';
import { strategyContext } from '../support/strategy-context.ts';

describe('hazards', () => {
  const windows = [4_000, 8_192, 32_000, 128_000, 200_000, 1_000_000];
  const floors = windows.flatMap((windowTokens) =>
    [0.8, 0.9, 1, 1.2].map((share) => ({ windowTokens, share })),
  );

  it.each(floors)(
    'H01: with a floor of $share of the trigger in a window of $windowTokens nobody is asked for a summary',
    async ({ windowTokens, share }) => {
      const { triggerTokens, targetTokens } = thresholdsFor(windowTokens);
      const { requests, summarizer } = recording();
      const conversation = anthropic({
        system: 's'.repeat(Math.ceil(triggerTokens * share)),
        messages: rawsOf(toolSession(20, Math.ceil(triggerTokens / 20))),
      });
      const context = strategyContext({ estimator, summarizer, targetTokens, trigger: 'auto' });
      const outcome = await createStrategy('summarize').compact(conversation, context);
      await createStrategy('ladder').compact(conversation, context);

      expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
      expect(requests).toEqual([]);
    },
  );

  it.each([0.85, 1, 1.2])(
    'H02: a summary of %d times its source is not taken, and two of them pause',
    async (share) => {
      const { summarizer } = recording(({ messages }) =>
        's'.repeat(Math.ceil(share * messages.reduce((sum, one) => sum + estimator.countMessage(one), 0))),
      );
      const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'auto' });
      let state = initialAutoCompactState;
      for (let run = 0; run < 3; run++) {
        const outcome = await createStrategy('summarize', { maxSummary: 1_000_000 }).compact(
          toolSession(30),
          context,
        );
        expect(outcome.status).not.toBe('compacted');
        state = afterOutcome(state, outcome);
      }

      expect(state.pausedTurns).toBeGreaterThan(0);
    },
  );

  it('H14: summaries that grow stay below their limit through ten compactions', async () => {
    const { summarizer } = recording(({ previousSummary = '' }) => `${previousSummary}${'s'.repeat(400)}`);
    const strategy = createStrategy('summarize', { maxSummary: 1000, keepRecent: 0 });
    const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'manual' });
    let conversation = toolSession(0);
    for (let turn = 0; turn < 10; turn++) {
      const grown = Array.from({ length: 10 }, (_one, index) => toolRound(`t${turn}_${index}`)).flat();
      conversation = withMessages(conversation, [
        ...conversation.messages,
        ...grown.map((raw) => conversation.format.readMessage(raw)),
      ]);
      const outcome = await strategy.compact(conversation, context);
      if (outcome.status === 'compacted') conversation = outcome.conversation;
    }

    expect(summariesIn(conversation).length).toBe(1);
    expect(summariesIn(conversation)[0]!.length).toBeLessThanOrEqual(1000);
  });

  const eager: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    'sliding-window': { keepLast: 2 },
    snip: { keepRounds: 1 },
    'collapse-reads': { keepRounds: 0, minTokens: 0 },
    'clear-tool-results': { protectTokens: 0, minBatchTokens: 0 },
    summarize: { keepRecent: 0, keepRounds: 1, minGain: 0 },
  };
  const shrinking = strategies.map(({ name }) => name).filter((name) => name !== 'strip-media');

  describe.each(shrinking)('%s', (name) => {
    test.prop([steps, fc.constantFrom(...Object.keys(writers)), fc.integer({ min: 0, max: 400 })])(
      'H16: a conversation that was compacted is smaller than before',
      async (list, formatName, targetTokens) => {
        const conversation = findFormat(formatName)!.read(writers[formatName]!(list));
        const outcome = await createStrategy(name, eager[name]).compact(
          conversation,
          strategyContext({ targetTokens }),
        );
        if (outcome.status !== 'compacted') return;

        expect(outcome.receipt.tokensAfter).toBeLessThan(outcome.receipt.tokensBefore);
      },
    );
  });

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    const format = findFormat(name)!;
    const stages = fc.array(steps, { minLength: 5, maxLength: 5 });

    test.prop([stages, fc.boolean()], { numRuns: 60 })(
      'H13: five compactions keep every pin byte for byte and leave exactly one summary',
      async (lists, quotes) => {
        const { summarizer } = recording(({ messages }) =>
          quotes ? 'they said KEEP-0' : `${messages.length} messages`,
        );
        const strategy = createStrategy('summarize', { keepRecent: 0, keepRounds: 1, minGain: 0 });
        const context = strategyContext({ summarizer, targetTokens: 0, pins: { patterns: [/KEEP-\d/] } });
        const pinned: unknown[] = [];
        let conversation = format.read([]);
        let count = 0;
        for (const [stage, list] of lists.entries()) {
          const grown = write(namedFor(list, stage)).map((raw) => format.readMessage(raw));
          pinned.push(...grown.filter(isKept).map(({ raw }) => raw));
          conversation = withMessages(conversation, [...conversation.messages, ...grown]);
          const outcome = await strategy.compact(conversation, context);
          if (outcome.status !== 'compacted') continue;
          conversation = outcome.conversation;
          count++;
        }

        const kept = new Set(rawsOf(conversation));
        expect(count).toBeGreaterThan(1);
        expect(pinned.length).toBeGreaterThanOrEqual(5);
        expect(pinned.every((raw) => kept.has(raw))).toBe(true);
        expect(summariesIn(conversation).length).toBe(Math.min(count, 1));
      },
    );
  });
});

/** The steps with ids and a first question of their own, and with enough said that a summary is shorter. */
function namedFor(list: readonly Step[], stage: number): readonly Step[] {
  return list.map(({ question, said = '', calls, ...rest }, index) => ({
    ...rest,
    question: index === 0 ? `KEEP-${stage}` : question,
    said: `${said} ${'and so on '.repeat(40)}`,
    calls: calls.map((call) => ({ ...call, id: `s${stage}_${call.id}` })),
  }));
}

function isKept({ raw }: Message): boolean {
  return /KEEP-\d/.test(JSON.stringify(raw));
}
