import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createStrategy, requestTokens } from '../../src/compaction/strategies/index.ts';
import { withMessages } from '../../src/conversation/index.ts';
import { findFormat } from '../../src/formats/index.ts';
import { changeOf, type Message, summarize, textOf, writeConversation } from '../../src/index.ts';
import { type Step, steps } from '../support/conversations.ts';
import {
  errorsOf,
  estimator,
  expectCompacted,
  recording,
  summariesIn,
  toolRound,
  toolSession,
} from '../support/small-sessions.ts';
import { writers } from '../support/step-writers.ts';
import { strategyContext } from '../support/strategy-context.ts';

describe('a conversation that is compacted again and again', () => {
  it('needs three summaries at most for forty tool rounds after one question, none of a lone summary', async () => {
    const { requests, summarizer } = recording();
    const strategy = summarize();
    const context = strategyContext({ estimator, summarizer, targetTokens: 10_000, trigger: 'auto' });
    let conversation = toolSession(0);
    for (let index = 0; index < 40; index++) {
      const grown = toolRound(`t${index}`).map((raw) => conversation.format.readMessage(raw));
      conversation = withMessages(conversation, [...conversation.messages, ...grown]);
      if (requestTokens(conversation, estimator) <= context.targetTokens) continue;
      conversation = expectCompacted(await strategy.compact(conversation, context)).conversation;
    }

    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThanOrEqual(3);
    expect(requests.every(({ messages }) => messages.length > 2)).toBe(true);
    expect(summariesIn(conversation).length).toBe(1);
    expect(requestTokens(conversation, estimator)).toBeLessThanOrEqual(context.targetTokens);
    expect(errorsOf(conversation, writeConversation(conversation))).toBe(0);
  });

  it('asks for nothing when nothing was said since', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'manual' });
    const strategy = summarize();
    const once = expectCompacted(await strategy.compact(toolSession(30), context)).conversation;

    expect(await strategy.compact(once, context)).toMatchObject({ status: 'skipped', reason: 'nothing-old' });
    expect(requests.length).toBe(1);
  });

  it('has one summary below its limit, however much a summarizer would let it grow', async () => {
    const { summarizer } = recording(({ previousSummary = '' }) => `${previousSummary}${'s'.repeat(400)}`);
    const strategy = createStrategy('summarize', { maxSummaryTokens: 1000 });
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

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    const format = findFormat(name)!;
    const stages = fc.array(steps, { minLength: 5, maxLength: 5 });

    test.prop([stages, fc.boolean()], { numRuns: 60 })(
      'keeps every pinned message, or its text word for word, in order, and exactly one summary',
      async (lists, quotes) => {
        const { summarizer } = recording(({ messages }) =>
          quotes ? 'they said KEEP-0' : `${messages.length} messages`,
        );
        const strategy = createStrategy('summarize', { keepRounds: 1, minGain: 0 });
        const context = strategyContext({ summarizer, targetTokens: 0, pins: { patterns: [/KEEP-\d/] } });
        const pinned: Message[] = [];
        let conversation = format.read([]);
        let count = 0;
        for (const [stage, list] of lists.entries()) {
          const grown = write(namedFor(list, stage)).map((raw) => format.readMessage(raw));
          pinned.push(...grown.filter(isKept));
          conversation = withMessages(conversation, [...conversation.messages, ...grown]);
          const outcome = await strategy.compact(conversation, context);
          const change = changeOf(outcome);
          if (change === undefined) continue;
          conversation = change.conversation;
          count++;
        }

        const places = pinned.map((message) => placeOf(message, conversation.messages));
        expect(count).toBeGreaterThan(1);
        expect(pinned.length).toBeGreaterThanOrEqual(5);
        expect(places).not.toContain(-1);
        expect(places).toEqual(places.toSorted((left, right) => left - right));
        expect(summariesIn(conversation).length).toBe(1);
      },
    );
  });
});

/** Where a message stands: as the very value, or as a text of its own where two of the user may not stand next to each other. */
function placeOf({ raw, blocks }: Message, messages: readonly Message[]): number {
  const said = blocks.map(textOf).join('\n\n');
  return messages.findIndex(
    (one) => one.raw === raw || one.blocks.some((block) => block.type === 'text' && textOf(block) === said),
  );
}

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
