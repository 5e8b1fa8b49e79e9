import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compaction/compactor.ts';
import type { CompactorOptions } from '../../src/compaction/options.ts';
import { undoPlan } from '../../src/compaction/plan/plan.ts';
import { changeOf } from '../../src/compaction/plan/strategy.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';
import type { Message } from '../../src/conversation/message.ts';
import { readSummaryMessage } from '../../src/conversation/summary-message.ts';
import { readConversation } from '../../src/formats/registry.ts';
import { originalCount } from '../../src/keeper/progress.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { tokenProfileForModel } from '../../src/tokens/profiles.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { keeping } from '../support/keeping.ts';
import { callAndResult, errorsOf, good, scripted, session, words } from '../support/probing-session.ts';

const estimator = createTokenEstimator({ profile: tokenProfileForModel(undefined) });
const read = (value: unknown): Conversation => readConversation(value, 'anthropic-messages');
const tokensOf = (value: unknown) => requestTokens(read(value), estimator);

/** A chat of two sides that take turns. */
const chat = (turns: number, size = 40) =>
  Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `turn ${turn}: ${words(size, turn)}`,
  }));

describe('compact', () => {
  it.each([
    { title: 'a long conversation', messages: session(60), windowTokens: 8000 },
    { title: 'one that is below its target', messages: session(30), windowTokens: 1_000_000 },
    { title: 'one in a window without a limit', messages: session(30), windowTokens: 0 },
  ])('always acts: on $title', async ({ messages, windowTokens }) => {
    const frozen = deepFreeze(messages);
    const { value, outcome } = await createCompactor({ windowTokens }).compact(frozen);

    expect(outcome.status).toBe('compacted');
    expect(tokensOf(value)).toBeLessThan(tokensOf(messages) * 0.6);
    expect(errorsOf(value)).toEqual([]);
    expect(value.at(-1)).toBe(frozen.at(-1));
  });
});

describe('a target that cannot be met', () => {
  it('gets the best legal request there is, and says what is in the way', async () => {
    const messages = deepFreeze([...session(30), ...callAndResult(30, 2000)]);
    const compactor = createCompactor({ windowTokens: 20_000, trigger: 5000, target: 2000 });
    const { value, outcome, tokensFreed } = await compactor.maybeCompact(messages);

    expect(outcome).toMatchObject({
      status: 'insufficient',
      reason: 'floor-exceeds-target',
      best: { receipt: { strategy: 'ladder' } },
    });
    expect(changeOf(outcome)).toBeDefined();
    expect(errorsOf(value)).toEqual([]);
    expect(tokensOf(value)).toBeLessThan(tokensOf(messages) * 0.7);
    expect(tokensOf(messages) - tokensOf(value)).toBeCloseTo(tokensFreed, -1);
    expect(value.slice(-2)).toEqual(messages.slice(-2));
    expect(compactor.state).toMatchObject({ compactionCount: 1, pausedTurns: 0 });
  });
});

describe('what a result says', () => {
  it('counts the messages and tokens, and gives the summary', async () => {
    const messages = session(40);
    const { summarizer } = scripted(() => good('The kiln is half mended.'));
    const compactor = createCompactor({ windowTokens: 8000, strategy: 'summarize', summarizer });
    const result = await compactor.compact(messages);

    expect(result.messagesBefore).toBe(messages.length);
    expect(result.messagesAfter).toBe(result.value.length);
    expect(result.messagesAfter).toBeLessThan(result.messagesBefore);
    expect(result.tokensFreed).toBeCloseTo(tokensOf(messages) - tokensOf(result.value), -1);
    expect(result.summary).toContain('The kiln is half mended.');
  });

  it('counts nothing where nothing was done', async () => {
    const messages = session(3);
    const result = await createCompactor({ windowTokens: 100_000 }).maybeCompact(messages);

    expect(result).toMatchObject({
      messagesBefore: 7,
      messagesAfter: 7,
      tokensFreed: 0,
      summary: undefined,
    });
  });
});

describe('options of summarize in automatic runs', () => {
  const summarizing = (options: CompactorOptions['options'], rest: Partial<CompactorOptions> = {}) =>
    createCompactor({
      windowTokens: 200_000,
      strategy: 'summarize',
      format: 'anthropic-messages',
      options,
      ...rest,
    });

  it('act from thresholdMessages on, and keep keepRecentMessages of them', async () => {
    const options = { thresholdMessages: 40, keepRecentMessages: 6 };
    const below = chat(39);
    const at = chat(41);

    expect((await summarizing(options).maybeCompact(below)).value).toBe(below);
    const { value, outcome } = await summarizing(options).maybeCompact(at);
    expect(outcome.status).toBe('compacted');
    // The first request of the user, a summary, and the newest.
    expect(value.slice(-6)).toEqual(at.slice(-6));
    expect(value.length).toBeLessThanOrEqual(1 + 1 + 7);
  });

  it('act from thresholdTokens on', async () => {
    const messages = chat(60);
    const tokens = Math.floor(tokensOf(messages));

    expect((await summarizing({ thresholdTokens: tokens + 5 }).maybeCompact(messages)).value).toBe(messages);
    const { outcome } = await summarizing({ thresholdTokens: tokens - 5 }).maybeCompact(messages);
    expect(outcome.status).toBe('compacted');
  });

  it.each([1000, 3000])(
    'keep %d recent tokens as given, as far as whole rounds allow',
    async (keepRecentTokens) => {
      const messages = session(60);
      const { value } = await summarizing({ keepRecentTokens }, { windowTokens: 20_000 }).maybeCompact(
        messages,
      );
      const kept = value.filter((message) => messages.slice(1).includes(message));
      const round = tokensOf(callAndResult(0));

      expect(kept).toEqual(messages.slice(-kept.length));
      expect(tokensOf(kept)).toBeGreaterThan(keepRecentTokens - 2 * round);
      expect(tokensOf(kept)).toBeLessThanOrEqual(keepRecentTokens + round);
    },
  );

  it('keep the newest 10 messages by themselves where they fit', async () => {
    const messages = chat(120, 150);
    const { value, outcome } = await summarizing({}, { windowTokens: 30_000 }).maybeCompact(messages);

    expect(outcome.status).toBe('compacted');
    expect(value.slice(-10)).toEqual(messages.slice(-10));
  });
});

describe('the length of the original list', () => {
  it('can be read from what was made, also after more compactions', async () => {
    for (const strategy of ['summarize', 'ladder', 'collapse']) {
      const compactor = createCompactor({ windowTokens: 8000, strategy });
      let list: readonly unknown[] = session(0);
      let length = 1;
      for (let round = 0; round < 90; round++) {
        list = [...list, ...callAndResult(round)];
        length += 2;
        if (round === 10) list = (await compactor.compact(list)).value;
        list = (await compactor.maybeCompact(list)).value;
        expect([strategy, round, originalCount(read(list).messages)]).toEqual([strategy, round, length]);
      }
      expect(compactor.state.compactionCount).toBeGreaterThan(2);
    }
  });

  it.each(['openai-chat', 'anthropic-messages'])('can be read from a chat in %s', async (format) => {
    const compactor = createCompactor({ windowTokens: 4000, strategy: 'summarize', format });
    const all = chat(200);
    let list: readonly unknown[] = [];
    let compactions = 0;
    for (let turn = 0; turn < all.length; turn += 2) {
      list = [...list, all[turn]];
      const { value, outcome } = await compactor.maybeCompact(list);
      if (changeOf(outcome) !== undefined) compactions++;
      expect([turn, originalCount(readConversation(value, format).messages)]).toEqual([turn, turn + 1]);
      list = [...value, all[turn + 1]];
    }
    expect(compactions).toBeGreaterThan(1);
  });

  it('can be read where instructions in the middle stand behind the summary', async () => {
    const system = { role: 'system', content: 'Speak of the kiln only.' };
    const all = [...session(1), system, ...session(60).slice(3)];
    const { value, outcome } = await createCompactor({
      windowTokens: 8000,
      strategy: 'summarize',
      format: 'anthropic-messages',
    }).compact(all);
    const place = value.indexOf(system);

    expect(outcome.status).toBe('compacted');
    expect(errorsOf(value)).toEqual([]);
    expect(readSummaryMessage(read(value).messages[place - 1] as Message)).toBeDefined();
    expect(originalCount(read(value).messages)).toBe(all.length);
  });

  it('can be read from the views of a keeper', async () => {
    const { keeper } = keeping({ windowTokens: 8000, options: {} });
    let folded = 0;
    for (let rounds = 10; rounds <= 90; rounds += 4) {
      const { value, status } = await keeper.prepare(session(rounds));
      await keeper.settle();
      if (status === 'folded') folded++;
      expect([rounds, status, originalCount(read(value).messages)]).toEqual([rounds, status, 1 + 2 * rounds]);
    }
    expect(folded).toBeGreaterThan(5);
  });
});

describe('undo', () => {
  it.each(['summarize', 'ladder', 'collapse', 'sliding-window', 'clear-tool-results'])(
    'gives a conversation back that has grown since it was compacted by %s',
    async (strategy) => {
      const messages = deepFreeze(session(40));
      const { value, outcome } = await createCompactor({ windowTokens: 8000, strategy }).compact(messages);
      const change = changeOf(outcome);
      if (change === undefined) throw new Error(outcome.reason);
      const added = deepFreeze([...callAndResult(40), ...callAndResult(41)]);
      const undone = writeConversation(undoPlan(read([...value, ...added]), change.undo)) as unknown[];

      expect(undone).toEqual([...messages, ...added]);
      for (const [index, raw] of undone.entries()) expect(raw).toBe([...messages, ...added][index]);
    },
  );

  it('refuses a conversation that the record is not about', async () => {
    const { value, outcome } = await createCompactor({ windowTokens: 8000 }).compact(session(40));
    const change = changeOf(outcome);

    expect(() => change && undoPlan(read(value.slice(0, -2)), change.undo)).toThrow(/another conversation/);
  });
});
