import { describe, expect, it } from 'vitest';
import { type Change, changeOf, type Strategy } from '../../src/compaction/plan/strategy.ts';
import { createStrategy, strategies } from '../../src/compaction/strategies/registry.ts';
import { legalCuts } from '../../src/conversation/cuts.ts';
import { type Conversation, withMessages, writeConversation } from '../../src/conversation/format.ts';
import { recogniseFormat } from '../../src/formats/registry.ts';
import { createTokenEstimator, type TokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { recordedExchanges } from '../support/cassettes.ts';
import { eagerOptions } from '../support/compaction-under-test.ts';
import { faultsOf } from '../support/conversations-judge.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { strategyContext } from '../support/strategy-context.ts';

/** Shares of its size that a conversation is to be brought down to: 5 % to 100 %. */
const SHARES = Array.from({ length: 20 }, (_, index) => (index + 1) / 20);

/** Compactions of the same conversation, one after the other. */
const CHAIN = 5;

const TIMEOUT_MS = 300_000;

const sessions = corpusFiles().filter(({ file }) => !file.startsWith('api-cassettes/'));
const requests = recordedExchanges().filter(({ body }) => recogniseFormat(body) !== undefined);
const isMissing = sessions.length === 0;
/** As it comes at every other budget, and with options that make it act at those between. */
const created = strategies.map(({ name }) => [
  createStrategy(name),
  createStrategy(name, eagerOptions[name]),
]);
/** Compactions by strategy, over the whole corpus. */
const acted = new Map(strategies.map(({ name }) => [name, 0]));
let conversationsSeen = 0;

describe.skipIf(isMissing)(
  `strategies on the corpus${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`,
  () => {
    it.each(sessions)(
      '$file stays as legal as it was and can be undone, by every strategy, at 20 budgets, five times over',
      async ({ file }) => {
        let found = 0;
        for await (const { conversations } of readRecordings(await fileSource(corpusPath(file)))) {
          for (const conversation of conversations) {
            await compactEveryWay(conversation);
            found++;
          }
        }

        expect(found).toBeGreaterThan(0);
      },
      TIMEOUT_MS,
    );

    it(
      'recorded requests stay as legal as they were, in the same way',
      async () => {
        expect(requests.length).toBeGreaterThan(170);
        for (const { body } of requests) await compactEveryWay(recogniseFormat(body)!.read(body));
      },
      TIMEOUT_MS,
    );

    it('gave every strategy something to do, or nothing was proved', () => {
      const total = [...acted.values()].reduce((sum, times) => sum + times, 0);
      console.log(`${conversationsSeen} conversations, ${total} compactions: ${JSON.stringify([...acted])}`);

      expect([...acted].filter(([, times]) => times === 0).map(([name]) => name)).toEqual(['none']);
    });
  },
);

async function compactEveryWay(conversation: Conversation): Promise<void> {
  conversationsSeen++;
  deepFreeze(conversation.frame.body);
  const estimator = createTokenEstimator();
  const grown = prefixesOf(conversation);
  for (const ways of created) {
    for (const [index, share] of SHARES.entries()) {
      const strategy = ways[index % ways.length]!;
      await squeeze(conversation, { strategy, estimator, share });
      await goOn(grown, { strategy, estimator, share });
    }
  }
}

interface Way {
  readonly strategy: Strategy;
  readonly estimator: TokenEstimator;
  readonly share: number;
}

/** The whole conversation, compacted again and again to half as much. */
async function squeeze(conversation: Conversation, way: Way): Promise<void> {
  let current = conversation;
  const size = requestTokens(conversation, way.estimator);
  for (let link = 0; link < CHAIN; link++) {
    const target = (size * way.share) / 2 ** link;
    current = await compact(current, conversation, { ...way, target });
  }
}

/** The conversation as it grew, a fifth at a time: what is new comes behind what the compactions so far have left. */
async function goOn(grown: readonly Conversation[], way: Way): Promise<void> {
  let current: Conversation | undefined;
  let seen = 0;
  for (const prefix of grown) {
    const added = prefix.messages.slice(seen);
    seen = prefix.messages.length;
    current = current === undefined ? prefix : withMessages(prefix, [...current.messages, ...added]);
    const target = requestTokens(current, way.estimator) * way.share;
    current = await compact(current, prefix, { ...way, target });
  }
}

/** Beginnings of a conversation, each a fifth longer and ending at a legal cut. */
function prefixesOf(conversation: Conversation): readonly Conversation[] {
  const { messages } = conversation;
  const cuts = legalCuts(messages);
  const ends = Array.from({ length: CHAIN }, (_, index) => {
    const wanted = (messages.length * (index + 1)) / CHAIN;
    return cuts.find((cut) => cut >= wanted) ?? messages.length;
  });
  return [...new Set(ends)].map((end) => withMessages(conversation, messages.slice(0, end)));
}

async function compact(
  current: Conversation,
  original: Conversation,
  { strategy, estimator, target }: Way & { readonly target: number },
): Promise<Conversation> {
  const context = strategyContext({ estimator, targetTokens: target, trigger: 'auto' });
  const change = changeOf(await strategy.compact(current, context));
  if (change === undefined) return current;
  acted.set(strategy.name, (acted.get(strategy.name) ?? 0) + 1);
  expectSound(current, original, { change, title: `${strategy.name}, target ${Math.round(target)}` });
  deepFreeze(writeConversation(change.conversation));
  return change.conversation;
}

function expectSound(
  current: Conversation,
  original: Conversation,
  { change, title }: { readonly change: Change; readonly title: string },
): void {
  const faults = faultsOf(current, change, original);
  if (faults.length > 0) expect(faults, title).toEqual([]);
}
