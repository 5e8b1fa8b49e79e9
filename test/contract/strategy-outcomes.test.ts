import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  collapse,
  createStrategy,
  formatLogRecord,
  type LogRecord,
  none,
  strategies,
} from '../../src/compaction/strategies/index.ts';
import { findFormat } from '../../src/formats/index.ts';
import {
  changeOf,
  createCompactor,
  groupRounds,
  ladder,
  readConversation,
  type Strategy,
  slidingWindow,
  snip,
  summarize,
  tokenBudget,
  withLogging,
  writeConversation,
} from '../../src/index.ts';
import { eagerOptions } from '../support/compaction-under-test.ts';
import { steps } from '../support/conversations.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import {
  errorsOf,
  estimator,
  expectCompacted,
  rawsOf,
  recording,
  shaped,
  toolSession,
} from '../support/small-sessions.ts';
import { writers } from '../support/step-writers.ts';
import { strategyContext } from '../support/strategy-context.ts';

const created: readonly Strategy[] = strategies.map(({ name }) => createStrategy(name));

describe('every strategy', () => {
  it.each(created)('$name answers with an outcome that says why', async (strategy) => {
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const outcome = await strategy.compact(toolSession(30), context);

    expect(['compacted', 'skipped', 'insufficient', 'failed']).toContain(outcome.status);
    expect(outcome.reason).toMatch(/\w/);
    if (outcome.status !== 'compacted') expect(outcome.message).toMatch(/\w/);
  });

  it.each(created)(
    '$name leaves every byte, and asks for nothing, where nothing is due',
    async (strategy) => {
      const { requests, summarizer } = recording();
      const conversation = toolSession(4);
      const outcome = await strategy.compact(
        conversation,
        strategyContext({ estimator, summarizer, targetTokens: 1_000_000, trigger: 'auto' }),
      );

      expect(outcome.status).toBe('skipped');
      expect(writeConversation(conversation)).toBe(conversation.frame.body);
      expect(requests).toEqual([]);
    },
  );

  it.each(created)('$name is logged with what it changed, or that it changed nothing', async (inner) => {
    const records: LogRecord[] = [];
    const texts: string[] = [];
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const conversation = toolSession(30);
    const outcome = await withLogging(inner, (record) => records.push(record)).compact(conversation, context);
    await withLogging(inner, { write: (text) => texts.push(text) }).compact(conversation, context);
    const [record] = records;

    expect(record).toMatchObject({ strategy: inner.name, status: outcome.status, messagesBefore: 61 });
    expect(texts).toEqual([formatLogRecord(record!)]);
    const isChanged = record!.diff.some(({ change }) => change !== 'kept');
    expect(isChanged).toBe(changeOf(outcome) !== undefined);
  });

  it.each([ladder(), summarize(), tokenBudget(), snip(), slidingWindow(), collapse()])(
    '$name makes a session of one question and many tool rounds smaller',
    async (strategy) => {
      const conversation = toolSession(30);
      const context = strategyContext({ estimator, targetTokens: 9000 });
      const { conversation: after, receipt } = expectCompacted(await strategy.compact(conversation, context));

      expect(receipt.tokensAfter).toBeLessThan(receipt.tokensBefore);
      expect(after.messages[0]?.raw).toBe(conversation.messages[0]?.raw);
      expect(errorsOf(after, writeConversation(after))).toBe(0);
    },
  );

  const shrinking = strategies.map(({ name }) => name).filter((name) => name !== 'strip-media');

  describe.each(shrinking)('%s', (name) => {
    test.prop([steps, fc.constantFrom(...Object.keys(writers)), fc.integer({ min: 0, max: 400 })])(
      'changes a conversation only into a smaller one',
      async (list, formatName, targetTokens) => {
        const conversation = findFormat(formatName)!.read(writers[formatName]!(list));
        const context = strategyContext({ targetTokens });
        const change = changeOf(
          await createStrategy(name, eagerOptions[name]).compact(conversation, context),
        );
        if (change === undefined) return;

        expect(change.receipt.tokensAfter).toBeLessThan(change.receipt.tokensBefore);
      },
    );
  });
});

describe('the strategy that was configured', () => {
  it('changes nothing where it is none', async () => {
    const messages = rawsOf(toolSession(30));
    const off = { status: 'skipped', reason: 'off', message: expect.any(String), usage: undefined };
    const compactor = createCompactor({ strategy: none(), windowTokens: 1000 });

    expect(await none().compact(toolSession(30), strategyContext({ targetTokens: 1 }))).toEqual(off);
    expect((await compactor.compact(messages)).value).toBe(messages);
  });

  it.each([
    { strategy: slidingWindow({ keepLast: 4 }), options: { keepLast: 4 } },
    { strategy: snip({ keepRounds: 2 }), options: { keepRounds: 2 } },
  ])('is run by compact(), given or named: $strategy.name', async ({ strategy, options }) => {
    const messages = rawsOf(shaped('uauauauauauau'));
    const { value, outcome } = await createCompactor({ windowTokens: 200_000, strategy }).compact(messages);
    const byName = createCompactor({ windowTokens: 200_000, strategy: strategy.name, options });

    expect(changeOf(outcome)?.receipt.strategy).toBe(strategy.name);
    expect(value.length).toBeLessThan(messages.length);
    expect((await byName.compact(messages)).value).toEqual(value);
  });
});

describe('snip', () => {
  it.each(['ucrcrcrcrcr', 'ucrcrcrcrcra', 'uauauaua', 'uauauauau', 'uucrcrcrcr', 'uucrcrcrcra'])(
    'of %s frees what its receipt says and leaves a legal list that the user begins',
    async (shape) => {
      const before = shaped(shape, ' and so on'.repeat(40));
      const outcome = await snip({ keepRounds: 2 }).compact(before, strategyContext({ estimator }));
      const { conversation, receipt } = expectCompacted(outcome);
      const dropped = receipt.runs.filter(({ fate }) => fate === 'dropped');
      const put = conversation.messages.filter(({ raw }) => !rawsOf(before).includes(raw));

      expect(receipt.tokensBefore - receipt.tokensAfter).toBe(
        dropped.reduce((sum, { tokens }) => sum + tokens, 0) - estimator.countMessages(put),
      );
      expect(receipt.tokensAfter).toBeLessThan(receipt.tokensBefore);
      expect(conversation.messages[0]?.role).toBe('user');
      expect(errorsOf(conversation, writeConversation(conversation))).toBe(errorsOf(before, rawsOf(before)));
    },
  );

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    test.prop([steps, fc.integer({ min: 1, max: 6 })], { numRuns: 60 })(
      'takes whole rounds out',
      async (list, keepRounds) => {
        const conversation = readConversation(deepFreeze(write(list)), name);
        const outcome = await snip({ keepRounds }).compact(conversation, strategyContext());
        if (outcome.status !== 'compacted') return;
        const views = (['previous', 'next'] as const).flatMap((userTextJoins) =>
          groupRounds(conversation.messages, { userTextJoins }),
        );
        const borders = new Set(views.flatMap(({ start, end }) => [start, end]));

        for (const { start, end } of outcome.receipt.runs) {
          expect(borders).toContain(start);
          expect(borders).toContain(end);
        }
      },
    );
  });
});
