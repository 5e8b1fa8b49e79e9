import { describe, expect, it } from 'vitest';
import { readRecordings } from '../../src/config/recordings.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/core/format.ts';
import { undoPlan } from '../../src/core/plan.ts';
import { requestTokens } from '../../src/core/receipt.ts';
import type { Strategy } from '../../src/core/strategy.ts';
import { createTokenEstimator, type TokenEstimator } from '../../src/core/token-estimator.ts';
import { createStrategy, strategies } from '../../src/strategies/registry.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { strategyContext } from '../support/strategy-context.ts';

/** Shares of its size that a conversation is to be brought down to. */
const SHARES = [0.1, 0.3, 0.5, 0.7, 0.9];

/** Compactions of the same conversation, one after the other. */
const CHAIN = 3;

const sessions = corpusFiles().filter(({ file }) => !file.startsWith('api-cassettes/'));
const isMissing = sessions.length === 0;
/** Compactions by strategy, over all sessions. */
const acted = new Map<string, number>();
/** The recordings have few pictures: only a limit of none makes them too many. */
const eager: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'strip-media': { maxImages: 0, maxDocuments: 0 },
};
const created = strategies.map(({ name }) => createStrategy(name, eager[name]));

describe.skipIf(isMissing)(
  `strategies on the corpus${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`,
  () => {
    it.each(sessions)(
      '$file stays as legal as it was and can be undone, by every strategy, at any budget, three times over',
      async ({ file }) => {
        let live = 0;
        for await (const { conversations } of readRecordings(await fileSource(corpusPath(file)))) {
          const conversation = conversations.at(-1);
          if (conversation === undefined) continue;
          live++;
          deepFreeze(conversation.frame.body);
          for (const strategy of created) await compactAtEveryBudget(conversation, strategy);
        }

        expect(live).toBeGreaterThan(0);
      },
    );

    it('gave every strategy something to do, or nothing was proved', () => {
      expect(new Set([...acted.keys(), 'none'])).toEqual(new Set(created.map(({ name }) => name)));
    });
  },
);

async function compactAtEveryBudget(conversation: Conversation, strategy: Strategy): Promise<void> {
  const estimator = createTokenEstimator();
  const size = requestTokens(conversation, estimator);
  for (const share of SHARES)
    await compactInChain(conversation, strategy, { estimator, targetTokens: size * share });
}

async function compactInChain(
  conversation: Conversation,
  strategy: Strategy,
  { estimator, targetTokens }: { estimator: TokenEstimator; targetTokens: number },
): Promise<void> {
  let current = conversation;
  for (let link = 0; link < CHAIN; link++) {
    const target = targetTokens / 2 ** link;
    const context = strategyContext({ estimator, targetTokens: target, trigger: 'auto' });
    const outcome = await strategy.compact(current, context);
    if (outcome.status !== 'compacted') return;
    acted.set(strategy.name, (acted.get(strategy.name) ?? 0) + 1);
    const title = `${strategy.name}, target ${Math.round(target)}, compaction ${link + 1}`;
    expect(newViolations(current, outcome.conversation), title).toEqual([]);
    const before = rawsOf(current);
    const undone = rawsOf(undoPlan(outcome.conversation, outcome.undo));
    expect(
      undone.length === before.length && undone.every((raw, index) => raw === before[index]),
      title,
    ).toBe(true);
    current = outcome.conversation;
  }
}

function rawsOf({ messages }: Conversation): readonly unknown[] {
  return messages.map(({ raw }) => raw);
}

/** Rules that are broken more often afterwards than before. */
function newViolations(before: Conversation, after: Conversation): readonly string[] {
  const old = brokenRules(before);
  return [...brokenRules(after)]
    .filter(([rule, count]) => count > (old.get(rule) ?? 0))
    .map(([rule]) => rule);
}

const remembered = new WeakMap<Conversation, ReadonlyMap<string, number>>();

function brokenRules(conversation: Conversation): ReadonlyMap<string, number> {
  const known = remembered.get(conversation);
  if (known !== undefined) return known;
  const rules = new Map<string, number>();
  const contract = findContract(conversation.format.name);
  for (const { rule, severity } of contract?.check(writeConversation(conversation), { scope: 'messages' }) ??
    []) {
    if (severity === 'error') rules.set(rule, (rules.get(rule) ?? 0) + 1);
  }
  remembered.set(conversation, rules);
  return rules;
}
