import { describe, expect, it } from 'vitest';
import { type Compactor, createCompactor } from '../../src/compaction/compactor.ts';
import { notCompacted, type Strategy } from '../../src/compaction/plan/strategy.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import { readSummaryMessage, summaryMessageText } from '../../src/conversation/summary-message.ts';
import { readConversation } from '../../src/formats/registry.ts';
import { recallMemory } from '../../src/memory/recall.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { tokenProfileForModel } from '../../src/tokens/profiles.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { keeping } from '../support/keeping.ts';
import { callAndResult, errorsOf, session, words } from '../support/probing-session.ts';

const estimator = createTokenEstimator({ profile: tokenProfileForModel(undefined) });
const tokensOf = (value: unknown) => requestTokens(readConversation(value, 'anthropic-messages'), estimator);

/** The messages of ours in a list. */
const summariesIn = (list: readonly unknown[]) =>
  readConversation(list, 'anthropic-messages').messages.flatMap(
    (message) => readSummaryMessage(message) ?? [],
  );

/** How many rounds a list tells of, each once: in a memory, or by being there. */
function roundsIn(list: readonly unknown[]): number {
  const answers = list.filter((raw) => (raw as { role: string }).role === 'assistant').length;
  return summariesIn(list).reduce((sum, summary) => sum + recallMemory(summary).rounds, answers);
}

/** How often a text stands in a value. */
function timesIn(value: unknown, text: string): number {
  return JSON.stringify(value).split(text).length - 1;
}

/** Fails as long as it is told to, then summarises. */
function moody(mood: { isBad: boolean }): Strategy {
  const inner = createStrategy('summarize');
  return {
    name: 'moody',
    compact: async (...run) =>
      mood.isBad ? notCompacted('failed', 'moody', 'not today') : inner.compact(...run),
  };
}

describe('compaction that is switched off', () => {
  it.each([0.5, 0.97, 1, 3])('leaves a window alone that is filled to %d', async (fill) => {
    const messages = deepFreeze(session(60));
    const windowTokens = Math.round(tokensOf(messages) / fill);
    const compactor = createCompactor({ windowTokens, strategy: 'none' });
    for (let turn = 0; turn < 4; turn++) {
      const automatic = await compactor.maybeCompact(messages);
      const manual = await compactor.compact(messages);

      for (const { value, outcome } of [automatic, manual]) {
        expect(value).toBe(messages);
        expect(outcome.status).toBe('skipped');
      }
    }
  });

  it.each([0.5, 0.97, 1, 3])('leaves what a keeper sends alone at %d too', async (fill) => {
    const messages = deepFreeze(session(60));
    const windowTokens = Math.round(tokensOf(messages) / fill);
    const { keeper, store } = keeping({ windowTokens, strategy: 'none', options: {} });
    for (let turn = 0; turn < 3; turn++) {
      expect(await keeper.prepare(messages)).toEqual({ value: messages, status: 'unchanged' });
      await keeper.settle();
    }

    expect(await store.list()).toEqual([]);
  });
});

describe('a window that is full while the strategy fails', () => {
  const WINDOW = 8000;

  it.each([0.98, 1, 1.5, 5])('fits when it is filled to %d', async (fill) => {
    const rounds = Math.ceil((WINDOW * fill) / (tokensOf(session(20)) / 20)) + 1;
    const messages = deepFreeze(session(rounds));
    const compactor = createCompactor({ windowTokens: WINDOW, strategy: moody({ isBad: true }) });
    expect(tokensOf(messages)).toBeGreaterThan(WINDOW * fill * 0.99);
    const { value, outcome } = await compactor.maybeCompact(messages);

    expect(outcome.status).toMatch(/compacted|insufficient/);
    expect(tokensOf(value)).toBeLessThan(WINDOW * 0.98);
    expect(errorsOf(value)).toEqual([]);
    expect(value.at(-1)).toBe(messages.at(-1));
    expect(compactor.state.consecutiveFailures).toBe(1);
  });

  it('fits although one result of the current turn alone is larger than the window', async () => {
    const messages = deepFreeze([...session(5), ...callAndResult(5, 9000)]);
    const compactor = createCompactor({ windowTokens: WINDOW });
    const { value } = await compactor.maybeCompact(messages);

    expect(tokensOf(value)).toBeLessThan(WINDOW);
    expect(errorsOf(value)).toEqual([]);
  });

  it('gives up what stands in front or the whole of the current turn, never both while one is enough', async () => {
    const summary = { role: 'user', content: summaryMessageText(words(250)) };
    const turn = callAndResult(1, 300);
    const messages = deepFreeze([...session(0), summary, ...callAndResult(0, 1), ...turn]);
    const seen = { whole: 0, shortened: 0 };
    for (let window = Math.ceil(tokensOf(turn) * 1.1); window < tokensOf(messages); window += 9) {
      const compactor = createCompactor({ windowTokens: window, strategy: moody({ isBad: true }) });
      const { value } = await compactor.compact(messages);
      const isWhole = value.at(-1) === turn[1];

      expect(isWhole || timesIn(value, 'Mend the kiln.') === 1, `in ${window} tokens`).toBe(true);
      expect(tokensOf(value)).toBeLessThan(window * 0.98);
      expect(errorsOf(value)).toEqual([]);
      seen[isWhole ? 'whole' : 'shortened']++;
    }

    expect(seen.whole).toBeGreaterThan(0);
    expect(seen.shortened).toBeGreaterThan(0);
  });

  it('is compacted from all that was said once the strategy is well again', async () => {
    const mood = { isBad: true };
    const seen: number[] = [];
    const strategy = moody(mood);
    const watched: Strategy = {
      name: 'watched',
      compact: (conversation, context) => {
        seen.push(conversation.messages.length);
        return strategy.compact(conversation, context);
      },
    };
    const compactor = createCompactor({ windowTokens: WINDOW, strategy: watched });
    const full = session(45);
    const first = await compactor.maybeCompact(full);
    expect(summariesIn(first.value)).toEqual([first.summary]);

    mood.isBad = false;
    const { list, added } = await growUntilCompacted(compactor, first.value, 45);

    expect(seen.at(-1)).toBe(full.length + added);
    // Of what the emergency told nothing is left: there is more room now, and all of it is told of once.
    const [summary = '', ...others] = summariesIn(list);
    expect(others).toEqual([]);
    expect(estimator.countText(summary)).toBeGreaterThan(1000);
    expect(roundsIn(list)).toBe(45 + added / 2);
    expect(list[0]).toEqual(full[0]);
    expect(errorsOf(list)).toEqual([]);
    expect(tokensOf(list)).toBeLessThan(WINDOW * 0.6);
  });

  it('collects no notes over 200 turns of emergencies', async () => {
    const compactor = createCompactor({ windowTokens: 4000, strategy: moody({ isBad: true }) });
    let list = session(0);
    for (let round = 0; round < 200; round++) {
      list = [...list, ...callAndResult(round)];
      ({ value: list } = await compactor.maybeCompact(list));
      expect(summariesIn(list).length).toBeLessThanOrEqual(1);
      expect(tokensOf(list)).toBeLessThan(4000);
      expect(errorsOf(list)).toEqual([]);
    }

    expect(summariesIn(list)).toHaveLength(1);
    expect(roundsIn(list)).toBe(200);
    expect(list[0]).toMatchObject({ role: 'user' });
    expect(timesIn(list, 'Mend the kiln. Never open the valve.')).toBe(1);
  });

  it('collects no notes over 200 turns although each is given as a store gives it back', async () => {
    const compactor = createCompactor({ windowTokens: 4000, strategy: moody({ isBad: true }) });
    let list: unknown[] = session(0);
    for (let round = 0; round < 200; round++) {
      list = JSON.parse(JSON.stringify([...list, ...callAndResult(round)])) as unknown[];
      ({ value: list } = await compactor.maybeCompact(list));
      expect(summariesIn(list).length).toBeLessThanOrEqual(1);
      expect(tokensOf(list)).toBeLessThan(4000);
    }

    expect(roundsIn(list)).toBe(200);
  });

  it('is told of in a memory of what was done', async () => {
    const compactor = createCompactor({ windowTokens: WINDOW, strategy: moody({ isBad: true }) });
    const { outcome, summary } = await compactor.maybeCompact([
      ...session(45),
      { role: 'user', content: words(3) },
    ]);

    expect(outcome).toMatchObject({ status: expect.stringMatching(/compacted|insufficient/) });
    expect(summary).toMatch(/^Memory of 44 rounds\./);
    expect(summary).toContain('called probe round 43');
  });
});

/** Goes on with calls and results until a run has done what it should. */
async function growUntilCompacted(compactor: Compactor, start: readonly unknown[], round: number) {
  let list = [...start];
  for (let added = 2; added < 200; added += 2) {
    list = [...list, ...callAndResult(round + added)];
    const { value, outcome } = await compactor.maybeCompact(list);
    list = value;
    if (outcome.status === 'compacted') return { list, added };
  }
  throw new Error('it was never due');
}
