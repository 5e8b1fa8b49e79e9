import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/core/format.ts';
import { isUserText } from '../../src/core/message.ts';
import { applyPlan, undoPlan } from '../../src/core/plan.ts';
import type { Outcome } from '../../src/core/strategy.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { createStrategy, strategies } from '../../src/strategies/registry.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { applyDamages, damages, steps, writers } from '../support/conversations.ts';
import { strategyContext } from '../support/strategy-context.ts';

/** Options that make each strategy act on the small conversations of the generator. */
const eager: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'sliding-window': { keepLast: 2 },
  snip: { keepRounds: 1 },
  'collapse-reads': { keepRounds: 0, minTokens: 0 },
  'clear-tool-results': { protectTokens: 0, minBatchTokens: 0 },
  'strip-media': { maxImages: 0, maxDocuments: 0 },
  summarize: { keepRecent: 0, keepRounds: 1, minGain: 0 },
};

const created = strategies.map(({ name }) => ({ name, strategy: createStrategy(name, eager[name]) }));
const formats = Object.entries(writers);
const targets = fc.integer({ min: 0, max: 400 });
const runs = { numRuns: Number(process.env['ROUNDFOLD_RUNS'] ?? 150) };

function errorsOf({ format }: Conversation, value: unknown): number {
  const violations = findContract(format.name)?.check(value, { scope: 'messages' }) ?? [];
  return violations.filter(({ severity }) => severity === 'error').length;
}

describe.each(created)('strategy $name', ({ strategy }) => {
  describe.each(formats)('in %s', (name, write) => {
    const format = findFormat(name)!;

    test.prop([steps, targets, fc.boolean()], runs)(
      'turns a legal list into a legal one, keeps what is pinned, accounts for all and can be undone',
      async (list, targetTokens, bindsReasoning) => {
        const messages = deepFreeze(write(list));
        const conversation = format.read(messages);
        const context = strategyContext({ targetTokens, bindsReasoning });
        const outcome = await strategy.compact(conversation, context);
        if (outcome.status !== 'compacted') return;

        const written = writeConversation(outcome.conversation);
        expect(errorsOf(conversation, written)).toBe(0);
        expectPinsKept(conversation, outcome.conversation, bindsReasoning);
        expectAccounted(conversation, outcome);
        expect(writeConversation(undoPlan(outcome.conversation, outcome.undo))).toBe(messages);
        expect(writeConversation(applyPlan(conversation, outcome.plan).conversation)).toEqual(written);
        expect(
          writeConversation(
            undoPlan(
              format.read(JSON.parse(JSON.stringify(written))),
              JSON.parse(JSON.stringify(outcome.undo)),
            ),
          ),
        ).toEqual(messages);
      },
    );

    test.prop([steps, damages, targets], runs)(
      'makes a broken list no worse',
      async (list, broken, targetTokens) => {
        const messages = deepFreeze(applyDamages(write(list), broken));
        const conversation = format.read(messages);
        const outcome = await strategy.compact(conversation, strategyContext({ targetTokens }));
        if (outcome.status !== 'compacted') return;

        expect(errorsOf(conversation, writeConversation(outcome.conversation))).toBeLessThanOrEqual(
          errorsOf(conversation, messages),
        );
        expect(writeConversation(undoPlan(outcome.conversation, outcome.undo))).toBe(messages);
      },
    );

    it('has nothing to do with an empty list', async () => {
      expect(await strategy.compact(format.read([]), strategyContext())).toMatchObject({ status: 'skipped' });
    });
  });
});

function expectPinsKept(before: Conversation, after: Conversation, bindsReasoning: boolean): void {
  const kept = new Set(after.messages.map(({ raw }) => raw));
  const first = before.messages.find(isUserText);
  const last = before.messages.findLast(isUserText);
  for (const pinned of [first, last]) {
    if (pinned !== undefined) expect(kept.has(pinned.raw)).toBe(true);
  }
  if (bindsReasoning) return;
  for (const { raw, role } of before.messages) if (role === 'system') expect(kept.has(raw)).toBe(true);
}

function expectAccounted(
  { messages }: Conversation,
  { receipt, conversation }: Extract<Outcome, { status: 'compacted' }>,
): void {
  expect(receipt.runs[0]?.start).toBe(0);
  expect(receipt.runs.at(-1)?.end).toBe(messages.length);
  for (const [index, run] of receipt.runs.entries())
    expect(run.start).toBe(receipt.runs[index - 1]?.end ?? 0);
  expect(receipt.messagesAfter).toBe(conversation.messages.length);
  const verbatim = receipt.runs
    .filter(({ fate }) => fate === 'verbatim')
    .flatMap(({ start, end }) => messages.slice(start, end));
  const kept = new Set(conversation.messages.map(({ raw }) => raw));
  expect(verbatim.every(({ raw }) => kept.has(raw))).toBe(true);
}
