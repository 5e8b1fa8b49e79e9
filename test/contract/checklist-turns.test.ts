import { describe, expect, it } from 'vitest';
import {
  createCompactor,
  createStrategy,
  formatLogRecord,
  ladder,
  none,
  requestTokens,
  type Strategy,
  slidingWindow,
  snip,
  strategies,
  summarize,
  withLogging,
  withMessages,
  writeConversation,
} from '../../src/index.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import {
  anthropic,
  errorsOf,
  estimator,
  expectCompacted,
  rawsOf,
  recording,
  shaped,
  summariesIn,
  toolRound,
  toolSession,
} from '../support/checklist.ts';
import { strategyContext } from '../support/strategy-context.ts';

const created: readonly Strategy[] = strategies.map(({ name }) => createStrategy(name));

describe('turns (rows 61 to 69)', () => {
  it.each(created)('row 61: $name leaves every byte where nothing is due', async (strategy) => {
    const conversation = toolSession(4);
    const outcome = await strategy.compact(
      conversation,
      strategyContext({ estimator, targetTokens: 1_000_000, trigger: 'auto' }),
    );

    expect(outcome.status).toBe('skipped');
    expect(writeConversation(conversation)).toBe(conversation.frame.body);
  });

  it('row 61: what stands before the first change is the very same afterwards', async () => {
    const body = deepFreeze({ system: 'rules', tools: [], messages: rawsOf(toolSession(30)) });
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const outcome = expectCompacted(await summarize().compact(anthropic(body), context));
    const written = writeConversation(outcome.conversation) as typeof body;

    expect(written.system).toBe(body.system);
    expect(written.tools).toBe(body.tools);
    expect(written.messages[0]).toBe(body.messages[0]);
  });

  it('row 62: sixty turns below the threshold ask for nothing', async () => {
    const { requests, summarizer } = recording();
    const strategy = ladder();
    for (let turn = 1; turn <= 60; turn++) {
      const context = strategyContext({ estimator, summarizer, targetTokens: 60_000, trigger: 'auto' });
      expect(await strategy.compact(toolSession(turn), context)).toMatchObject({ status: 'skipped' });
    }

    expect(requests).toEqual([]);
  });

  it.each([slidingWindow({ keepLast: 4 }), snip({ keepRounds: 2 })])(
    'row 63, for the library: compact() runs the strategy that was configured: $name',
    async (strategy) => {
      const messages = rawsOf(shaped('uauauauauauau'));
      const { outcome } = await createCompactor({ strategy }).compact(messages);
      const byName = createCompactor({
        strategy: strategy.name,
        options: strategy.name === 'snip' ? { keepRounds: 2 } : { keepLast: 4 },
      });

      expect(expectCompacted(outcome).receipt.strategy).toBe(strategy.name);
      expect((await byName.compact(messages)).value).toEqual(
        writeConversation(expectCompacted(outcome).conversation),
      );
    },
  );

  it('row 64, for the library: slidingWindow({ keepLast: 6 }) keeps six, and the task', async () => {
    const conversation = shaped('uauauauauauau');
    const outcome = await slidingWindow({ keepLast: 6 }).compact(conversation, strategyContext());
    const kept = rawsOf(expectCompacted(outcome).conversation);

    expect(kept.slice(-6)).toEqual(rawsOf(conversation).slice(-6));
    expect(kept.length).toBe(7);
  });

  it('row 65, for the library: summarize by hand needs no pressure and keeps four rounds', async () => {
    const conversation = toolSession(12);
    const strategy = summarize({ keepRounds: 4, keepRecent: 0 });
    const context = { estimator, targetTokens: 1_000_000 };
    const byHand = await strategy.compact(conversation, strategyContext({ ...context, trigger: 'manual' }));
    const byItself = await strategy.compact(conversation, strategyContext({ ...context, trigger: 'auto' }));

    expect(rawsOf(expectCompacted(byHand).conversation).slice(-8)).toEqual(rawsOf(conversation).slice(-8));
    expect(expectCompacted(byHand).receipt.messagesAfter).toBe(10);
    expect(byItself).toMatchObject({ status: 'skipped', reason: 'below-threshold' });
  });

  it.each(['auto', 'manual', 'overflow'] as const)(
    'row 66, for the library: none does nothing, not even when the trigger is %s',
    async (trigger) => {
      const outcome = await none().compact(toolSession(30), strategyContext({ targetTokens: 1, trigger }));

      expect(outcome).toMatchObject({ status: 'skipped', reason: 'off' });
    },
  );

  it('row 67, for the library: what stood before and after can be switched on and off between runs', async () => {
    const shown: string[] = [];
    let isVerbose = false;
    const strategy = withLogging(slidingWindow({ keepLast: 4 }), (record) => {
      if (isVerbose) shown.push(formatLogRecord(record));
    });
    const run = () => strategy.compact(shaped('uauauauau'), strategyContext());
    await run();
    expect(shown).toEqual([]);

    isVerbose = true;
    await run();
    expect(shown).toEqual([expect.stringMatching(/\nBEFORE \(9\)\n.*\nAFTER \(5\)\n/s)]);
  });

  it('row 68: two logs of the same conversation differ only in what the strategies did', async () => {
    const logOf = async (strategy: Strategy) => {
      const texts: string[] = [];
      const logged = withLogging(strategy, { write: (text) => texts.push(text) });
      await logged.compact(toolSession(12), strategyContext({ estimator, targetTokens: 2000 }));
      return texts.join('').split('\n');
    };
    const [window, again, summary] = await Promise.all([
      logOf(slidingWindow({ keepLast: 4 })),
      logOf(slidingWindow({ keepLast: 4 })),
      logOf(summarize({ keepRecent: 0 })),
    ]);
    const linesBefore = (log: readonly string[]) =>
      log
        .slice(
          log.indexOf('BEFORE (25)'),
          log.findIndex((line) => line.startsWith('AFTER')),
        )
        .map(unmarked);

    expect(window).toEqual(again);
    expect(linesBefore(window)).toEqual(linesBefore(summary));
    expect(linesBefore(window).length).toBe(26);
    expect(window).not.toEqual(summary);
  });

  it('row 69: forty tool rounds after one question take three summaries at most, none of a lone summary', async () => {
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

  it('row 69: the same conversation compacted again asks for nothing', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'manual' });
    const strategy = summarize();
    const once = expectCompacted(await strategy.compact(toolSession(30), context)).conversation;

    expect(await strategy.compact(once, context)).toMatchObject({ status: 'skipped', reason: 'nothing-old' });
    expect(requests.length).toBe(1);
  });
});

/** A line of a log without the mark that says what became of the message. */
function unmarked(line: string): string {
  return line.replace(/^[ ~+-] /, '');
}
