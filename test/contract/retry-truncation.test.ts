import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { RetryPolicy } from '../../src/compaction/overflow/choice.ts';
import { type RetryTruncation, truncateHeadForRetry } from '../../src/compaction/overflow/truncation.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';
import type { Message } from '../../src/conversation/message.ts';
import { groupRounds, newestRoundsStart } from '../../src/conversation/rounds.ts';
import { linkTools } from '../../src/conversation/tool-links.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { applyDamages, damages, type Step, steps } from '../support/conversations.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { rawsOf, shaped } from '../support/small-sessions.ts';
import { writers } from '../support/step-writers.ts';

const estimator = createTokenEstimator();

const refusals = fc.record({
  policy: fc.constantFrom<RetryPolicy>('oversized-first', 'keep-preamble', 'literal'),
  excessTokens: fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined }),
  attempt: fc.integer({ min: 1, max: 4 }),
  bindsReasoning: fc.boolean(),
});

type Refusal = typeof refusals extends fc.Arbitrary<infer Value> ? Value : never;

/** Makes the results of every third step long enough to be worth shortening. */
function withLongResults(list: readonly Step[]): readonly Step[] {
  return list.map((step, index) =>
    index % 3 === 0
      ? { ...step, calls: step.calls.map((call) => ({ ...call, output: `${call.output} `.repeat(300) })) }
      : step,
  );
}

function truncate(conversation: Conversation, { excessTokens, ...rest }: Refusal): RetryTruncation | null {
  return truncateHeadForRetry(conversation, {
    estimator,
    overflow: { kind: 'prompt-too-long', excessTokens },
    ...rest,
  });
}

function isMarker({ blocks: [block] }: Message): boolean {
  return block?.type === 'text' && block.text.startsWith('[earlier conversation left out: ');
}

describe.each(Object.entries(writers))('retrying in %s', (name, write) => {
  const format = findFormat(name)!;
  const contract = findContract(name)!;
  const errors = (value: unknown) =>
    contract.check(value, { scope: 'messages' }).filter(({ severity }) => severity === 'error');
  const runs = { numRuns: 150 };

  test.prop([steps, fc.boolean(), refusals], runs)(
    'every step is legal, has no orphans and one marker at most, and is smaller than the one before, until null',
    (list, isLong, refusal) => {
      const written = deepFreeze(write(isLong ? withLongResults(list) : list));
      let conversation = format.read(written);
      let truncated = truncate(conversation, refusal);
      // expectSmaller sees to it that this ends.
      for (; truncated !== null; truncated = truncate(conversation, refusal)) {
        const { messages } = truncated.conversation;

        expect(errors(writeConversation(truncated.conversation))).toEqual([]);
        expect(linkTools(messages)).toMatchObject({ orphans: [], unanswered: [] });
        expect(messages.filter(isMarker).length).toBeLessThanOrEqual(1);
        expectSmaller(conversation, truncated);
        if (truncated.shortenedResults === 0 && !refusal.bindsReasoning) expectWhole(conversation, truncated);
        deepFreeze(messages);
        conversation = truncated.conversation;
      }
      expect(conversation.messages.length).toBeGreaterThan(0);
    },
  );

  test.prop([steps, fc.boolean(), refusals], runs)(
    'the current turn stays, value by value, unless it is told that nothing else was left to go',
    (list, isLong, refusal) => {
      const conversation = format.read(deepFreeze(write(isLong ? withLongResults(list) : list)));
      const truncated = truncate(conversation, { ...refusal, bindsReasoning: false });
      if (truncated === null) return;
      const { messages } = conversation;
      const current = messages.slice(newestRoundsStart(messages, 1)).map(({ raw }) => raw);
      const kept = truncated.conversation.messages.slice(-current.length).map(({ raw }) => raw);

      if (!truncated.isCurrentTurnShortened) expect(kept).toEqual(current);
      else expect(kept).not.toEqual(current);
    },
  );

  test.prop([steps, refusals], runs)(
    'a current turn that fits the limit together with what is pinned is never shortened',
    (list, refusal) => {
      const conversation = format.read(deepFreeze(write(withLongResults(list))));
      const truncated = truncate(conversation, refusal);
      if (truncated?.isCurrentTurnShortened !== true || refusal.excessTokens === undefined) return;
      const limit = requestTokens(conversation, estimator) - refusal.excessTokens;
      const movable = truncated.leftOut;

      expect(requestTokens(conversation, estimator) - estimator.countMessages(movable)).toBeGreaterThan(
        limit,
      );
    },
  );

  test.prop([steps, fc.boolean(), refusals], runs)(
    'every message is told of: it left with a named round, its round was shortened, or it is there',
    (list, isLong, refusal) => {
      const conversation = format.read(deepFreeze(write(isLong ? withLongResults(list) : list)));
      const truncated = truncate(conversation, { ...refusal, bindsReasoning: false });
      if (truncated === null) return;
      const named = (rounds: RetryTruncation['droppedRounds']) =>
        rounds.flatMap(({ round: { start, end } }) => conversation.messages.slice(start, end));
      const accounted = new Set([...named(truncated.droppedRounds), ...named(truncated.shortenedRounds)]);
      const there = new Set(truncated.conversation.messages.map(({ raw }) => raw));

      expect(conversation.messages.filter((one) => !accounted.has(one) && !there.has(one.raw))).toEqual([]);
      expect(truncated.leftOut).toHaveLength(truncated.droppedMessages);
      expect(truncated.largestRound).toBeDefined();
    },
  );

  test.prop([steps, damages, refusals], runs)('a broken list comes out whole', (list, broken, refusal) => {
    const damaged = deepFreeze(applyDamages(write(list), broken));
    const truncated = truncate(format.read(damaged), refusal);
    if (truncated === null) return;

    expect(errors(writeConversation(truncated.conversation))).toEqual([]);
  });
});

describe('retrying by the letter', () => {
  const rounds = fc.array(fc.constantFrom('a', 'cr', 'au'), { minLength: 1, maxLength: 12 });

  test.prop([rounds, fc.option(fc.nat(200), { nil: undefined })])(
    'leaves a tail of whole rounds, and never nothing',
    (list, excessTokens) => {
      const conversation = shaped(`u${list.join('')}`);
      const { messages } = conversation;
      fc.pre(groupRounds(messages).length > 1);
      const truncated = truncate(conversation, {
        policy: 'literal',
        excessTokens,
        attempt: 1,
        bindsReasoning: false,
      });
      const kept = truncated?.conversation.messages.filter((message) => !isMarker(message)) ?? [];
      const tails = groupRounds(messages).map(({ start }) => rawsOf({ messages: messages.slice(start) }));

      expect(tails.slice(1)).toContainEqual(rawsOf({ messages: kept }));
    },
  );
});

/** Messages leave as wholes: what is there besides a marker was there before. */
function expectWhole(before: Conversation, { conversation }: RetryTruncation): void {
  const values = new Set(rawsOf(before));
  const made = conversation.messages.filter((message) => !isMarker(message) && !values.has(message.raw));
  expect(made).toEqual([]);
}

function expectSmaller(before: Conversation, { conversation, ...truncated }: RetryTruncation): void {
  const spoken = (messages: readonly Message[]) => messages.filter((message) => !isMarker(message));
  const was = spoken(before.messages);
  const is = spoken(conversation.messages);
  if (truncated.droppedRounds.length === 0) {
    expect(truncated.shortenedResults).toBeGreaterThan(0);
    expect(estimator.countMessages(is)).toBeLessThan(estimator.countMessages(was));
    return;
  }
  // Reasoning that stands in items of its own may leave besides.
  expect(is.length).toBeLessThanOrEqual(was.length - truncated.droppedMessages);
  expect(truncated.droppedMessages).toBeGreaterThan(0);
}
