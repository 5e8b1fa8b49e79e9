import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect } from 'vitest';
import { initialAutoCompactState } from '../../src/compaction/breaker.ts';
import { changeOf, type Strategy } from '../../src/compaction/plan/strategy.ts';
import { createStrategy, strategies } from '../../src/compaction/strategies/registry.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { legalCuts } from '../../src/conversation/cuts.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';
import { createChains } from '../../src/conversation/identity.ts';
import { sha256 } from '../../src/conversation/sha256.ts';
import { linkTools } from '../../src/conversation/tool-links.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { openArchive } from '../../src/keeper/archive.ts';
import {
  buildCheckpoint,
  isTrueOf,
  type KeeperTurn,
  type NewCheckpoint,
  readTurn,
} from '../../src/keeper/checkpoints.ts';
import { piecesOf, projectView } from '../../src/keeper/views.ts';
import type { Checkpoint } from '../../src/stores/store.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { applyDamages, damages, type Step, steps } from '../support/conversations.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { writers } from '../support/step-writers.ts';
import { strategyContext } from '../support/strategy-context.ts';

const estimator = createTokenEstimator({ countText: (text) => text.length });
const chains = createChains({ hash: sha256 });
const owner = { tenant: 'a', configuration: 'c', usage: undefined, signal: undefined };
const label = { name: 'name', state: initialAutoCompactState, createdAt: 1 };

const OPTIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  summarize: { keepRecentTokens: 50, minGain: 0 },
  ladder: { keepRecentTokens: 50 },
  'clear-tool-results': { protectTokens: 50, minBatchTokens: 1 },
};

const created = strategies
  .filter(({ name }) => name !== 'none')
  .map(({ name }) => createStrategy(name, OPTIONS[name] ?? {}));

interface Made {
  readonly turn: KeeperTurn;
  readonly view: Conversation;
  readonly made: NewCheckpoint;
  readonly after: readonly unknown[];
}

/** Compacts the view of a conversation to a share of its size; undefined when there was nothing to do. */
async function compact(
  conversation: Conversation,
  { strategy, share, base }: { strategy: Strategy; share: number; base: Checkpoint | undefined },
): Promise<Made | undefined> {
  const turn = readTurn(conversation, chains, owner);
  const { head } = turn.chain;
  const view = base === undefined ? conversation : projectView(conversation, base, { head });
  const raws = conversation.messages.map(({ raw }) => raw);
  const pieces = piecesOf(conversation.messages, { head, checkpoint: base });
  expect(pieces.map(({ raw }) => raw)).toEqual(view.messages.map(({ raw }) => raw));
  const archive = openArchive({
    hash: sha256,
    tenant: 'a',
    conversation: 'name',
    format: conversation.format,
    originals: raws.slice(head),
    pieces,
    createdAt: 1,
  });
  const targetTokens = requestTokens(view, estimator) * share;
  const outcome = await strategy.compact(
    view,
    strategyContext({ estimator, targetTokens, trigger: 'manual' }),
  );
  const change = changeOf(outcome);
  if (change === undefined) return undefined;
  const made = buildCheckpoint(
    { turn, view, pieces, base, change, archive, ...label },
    { chains, estimator },
  );
  return made === undefined
    ? undefined
    : { turn, view, made, after: change.conversation.messages.map(({ raw }) => raw) };
}

/** Steps whose results are long enough to be worth something. */
const long = steps.map((list): readonly Step[] =>
  list.map((step) => ({
    ...step,
    calls: step.calls.map((call) => ({ ...call, output: call.output.repeat(20) })),
  })),
);

const stored = (checkpoint: Checkpoint) => JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;

function errorsOf(conversation: Conversation): readonly string[] {
  const found = findContract(conversation.format.name)?.check(writeConversation(conversation), {
    scope: 'messages',
  });
  return (found ?? []).filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

/** What a checkpoint says is what was done to the conversation, and what can be read again. */
function expectTrue(conversation: Conversation, { turn, made, after }: Made, checkpoint: Checkpoint): void {
  const { boundary, receipt } = checkpoint;
  expect(isTrueOf(checkpoint, turn)).toBe(true);
  const shown = projectView(conversation, checkpoint, { head: turn.chain.head });
  expect(shown.messages.map(({ raw }) => raw)).toEqual(after);
  expect(errorsOf(shown)).toEqual([]);

  const fates = receipt.runs.flatMap(({ fate, start, end }) => new Array<string>(end - start).fill(fate));
  expect(fates.length).toBe(boundary);
  const originals = conversation.messages.slice(turn.chain.head).map(({ raw }) => raw);
  const verbatim = originals.filter((_, index) => (fates[index] ?? 'verbatim') === 'verbatim');
  const raws = new Set(verbatim);
  // The very values, in their order.
  expect(shown.messages.filter(({ raw }) => raws.has(raw)).map(({ raw }) => raw)).toEqual(verbatim);

  for (const { handle, start, end, body } of made.spans) {
    expect(handle).toMatch(/^rf:[0-9a-f]{32}$/);
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(originals.slice(start, end));
  }
}

/** Everything that left has a name under which it is kept. */
function expectNamed({ checkpoint, spans }: Made['made']): void {
  const named = new Set(spans.map(({ handle }) => handle));
  for (const { fate, handle } of checkpoint.receipt.runs) {
    if (fate !== 'verbatim') expect(named.has(handle ?? '')).toBe(true);
  }
}

const counts = { first: 0, onTop: 0, broken: 0 };

afterAll(() => {
  expect(counts.first).toBeGreaterThan(100);
  expect(counts.onTop).toBeGreaterThan(50);
  expect(counts.broken).toBeGreaterThan(20);
});

describe.each(Object.keys(writers))('checkpoints of %s', (name) => {
  const format = findFormat(name)!;
  const write = (list: readonly Step[]) => deepFreeze(writers[name]?.(list) ?? []) as readonly unknown[];
  // Anthropic and Gemini have their instructions outside the list.
  const system = name.startsWith('openai') ? [{ role: 'system', content: 'rules' }] : [];
  const strategy = fc.constantFrom(...created);
  const share = fc.double({ min: 0.1, max: 0.9, noNaN: true });

  test.prop([long, fc.tuple(strategy, strategy), share, fc.nat(12)], { numRuns: 150 })(
    'say exactly what was done, once and again on top',
    async (list, [first, second], goal, split) => {
      const early = list.slice(0, Math.max(1, split));
      let base: Checkpoint | undefined;
      for (const [part, used] of [
        [early, first],
        [list, second],
      ] as const) {
        const conversation = format.read([...system, ...write(part)]);
        // A question that joins the message before it makes that another message.
        if (base !== undefined && !isTrueOf(base, readTurn(conversation, chains, owner))) base = undefined;
        const whole = await compact(conversation, { strategy: used, share: goal, base });
        if (whole === undefined) continue;
        counts[base === undefined ? 'first' : 'onTop']++;
        const checkpoint = stored(whole.made.checkpoint);
        expect(checkpoint.boundary).toBeGreaterThan(base?.boundary ?? 0);
        expectTrue(conversation, whole, checkpoint);
        if (base === undefined) expectNamed(whole.made);
        base = checkpoint;
      }
    },
  );

  test.prop([long, strategy, share], { numRuns: 60 })(
    'give the same bytes turn after turn, whatever comes behind',
    async (list, used, goal) => {
      const early = list.slice(0, Math.ceil(list.length / 2));
      const whole = await compact(format.read([...system, ...write(early)]), {
        strategy: used,
        share: goal,
        base: undefined,
      });
      if (whole === undefined) return;
      const checkpoint = stored(whole.made.checkpoint);
      let before = '';
      for (let length = early.length; length <= list.length; length++) {
        const conversation = format.read([...system, ...write(list.slice(0, length))]);
        const turn = readTurn(conversation, chains, owner);
        const isTrue = isTrueOf(checkpoint, turn);
        if (!isTrue) return;
        const view = projectView(conversation, checkpoint, { head: turn.chain.head });
        expect(errorsOf(view)).toEqual([]);
        const settled = view.messages.slice(0, -1).map(({ raw }) => JSON.stringify(raw));
        expect(settled.join('\n').startsWith(before)).toBe(true);
        before = settled.join('\n');
      }
    },
  );

  test.prop([long, damages, strategy, share], { numRuns: 150 })(
    'end where a broken list may be cut',
    async (list, broken, used, goal) => {
      const raws = deepFreeze(applyDamages(writers[name]?.(list) ?? [], broken)) as readonly unknown[];
      const conversation = format.read([...system, ...raws]);
      const made = await compact(conversation, { strategy: used, share: goal, base: undefined });
      if (made === undefined) return;
      const { chain } = made.turn;
      const { boundary } = made.made.checkpoint;
      const { unanswered, orphans } = linkTools(conversation.messages.slice(0, chain.head + boundary));
      if (unanswered.length + orphans.length > 0) counts.broken++;
      expect(legalCuts(conversation.messages)).toContain(chain.head + boundary);
    },
  );
});
