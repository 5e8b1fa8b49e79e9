import { describe, expect, it } from 'vitest';
import { countingSummarizer, strategyContext } from '../../../test/support/strategy-context.ts';
import { writeConversation } from '../../conversation/format.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { Summarizer } from '../../memory/summary-request.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { undoPlan } from '../plan/plan.ts';
import { changeOf, type StrategyContext } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

/** One token for each character. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

interface Round {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly size: number;
}

function session(rounds: readonly Round[]) {
  return anthropicMessages.read([
    { role: 'user', content: 'task' },
    ...rounds.flatMap(({ name, input, size }, index) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name, input }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'x'.repeat(size) }],
      },
    ]),
  ]);
}

const reads = (count: number, size: number): readonly Round[] =>
  Array.from({ length: count }, () => ({ name: 'read_file', input: { path: 'a.ts' }, size }));
const asks = (count: number, size: number): readonly Round[] =>
  Array.from({ length: count }, (_one, index) => ({ name: 'ask_expert', input: { index }, size }));

async function climb(
  rounds: readonly Round[],
  given: Partial<StrategyContext>,
  options: Readonly<Record<string, unknown>> = {},
) {
  const context = strategyContext({ estimator, trigger: 'auto', ...given });
  return createStrategy('ladder', options).compact(session(rounds), context);
}

const failing: Summarizer = {
  name: 'failing',
  asksModel: true,
  summarize: async () => ({
    status: 'failed',
    reason: 'upstream',
    message: 'no answer',
    usage: { promptTokens: 7, outputTokens: 0 },
  }),
};

describe('the ladder', () => {
  it.each([
    { rounds: reads(10, 1000), targetTokens: 50_000, reason: 'below-target' },
    { rounds: reads(10, 1000), targetTokens: 3000, reason: 'collapse-reads' },
    { rounds: [...asks(10, 5000), ...reads(5, 5000)], targetTokens: 62_000, reason: 'collapse-reads' },
    {
      rounds: [
        ...Array.from({ length: 20 }, (_one, index) => ({ name: 'bash', input: { index }, size: 5000 })),
      ],
      targetTokens: 50_000,
      reason: 'clear-tool-results',
    },
    { rounds: asks(20, 1000), targetTokens: 9000, reason: 'summarize' },
    {
      rounds: [...reads(6, 1000), ...asks(20, 1000)],
      targetTokens: 9000,
      // A summary is made of what was said, not of the notes that were too little.
      reason: 'summarize',
    },
  ])(
    'goes up to $reason and no further for a target of $targetTokens',
    async ({ rounds, targetTokens, reason }) => {
      expect(await climb(rounds, { targetTokens })).toMatchObject({ reason });
    },
  );

  it.each([
    { who: 'a model, which costs', asksModel: true, reason: 'collapse-reads' },
    { who: 'our own memory, which keeps more', asksModel: false, reason: 'summarize' },
  ])('where the cheap rungs leave less than 80 % of the target: $reason before $who', async (given) => {
    const { asksModel, reason } = given;
    const summarizer = { ...countingSummarizer, asksModel };

    expect(await climb(reads(10, 1000), { targetTokens: 4000, summarizer })).toMatchObject({
      status: 'compacted',
      reason,
    });
  });

  it('gives what the cheap rungs made, however little that is, when there is no memory', async () => {
    const summarizer = { ...failing, asksModel: false };

    expect(await climb(reads(10, 1000), { targetTokens: 4000, summarizer })).toMatchObject({
      status: 'compacted',
      reason: 'collapse-reads',
    });
  });

  it('is one plan that is undone as a whole', async () => {
    const bashes = Array.from({ length: 20 }, (_one, index) => ({
      name: 'bash',
      input: { index },
      size: 5000,
    }));
    const conversation = session([...reads(6, 5000), ...bashes]);
    const outcome = await createStrategy('ladder').compact(
      conversation,
      strategyContext({ estimator, targetTokens: 52_000 }),
    );
    expect(outcome.status).toBe('compacted');
    if (outcome.status !== 'compacted') return;

    expect(outcome.plan.steps.length).toBe(2);
    expect(writeConversation(undoPlan(outcome.conversation, outcome.undo))).toBe(conversation.frame.body);
    expect(outcome.receipt.strategy).toBe('ladder');
  });

  it('keeps what it is told to when it summarises, and a fifth of the target by itself', async () => {
    const lengthAfter = async (options: Readonly<Record<string, unknown>>) => {
      const outcome = await climb(asks(40, 1000), { targetTokens: 30_000 }, options);
      return changeOf(outcome)?.receipt.messagesAfter;
    };

    expect(await lengthAfter({ keepRounds: 2 })).toBe(6);
    expect(await lengthAfter({ keepRecentMessages: 9 })).toBe(12);
    expect(await lengthAfter({ keepRecentTokens: 9200 })).toBe(18);
    expect(await lengthAfter({})).toBe(await lengthAfter({ keepRecentTokens: 6000 }));
  });

  it('changes nothing when there is no summary and nothing cheaper, and tells what was spent', async () => {
    expect(await climb(asks(20, 1000), { targetTokens: 9000, summarizer: failing })).toEqual({
      status: 'failed',
      reason: 'summary-upstream',
      message: 'no answer',
      usage: { promptTokens: 7, outputTokens: 0 },
    });
  });

  it('gives what the cheap rungs made when there is no summary', async () => {
    const rounds = [...reads(20, 1000), ...asks(20, 1000)];
    const outcome = await climb(rounds, { targetTokens: 9000, summarizer: failing });

    expect(outcome).toMatchObject({ status: 'insufficient', usage: { promptTokens: 7, outputTokens: 0 } });
    expect(changeOf(outcome)?.receipt.messagesAfter).toBe(81);
    expect(changeOf(outcome)?.receipt.tokensAfter).toBeLessThan(25_000);
  });

  it('tells the failure of a rung when none did anything', async () => {
    // Two rounds that stay in any case, behind two that are too small for a list to be shorter.
    const outcome = await climb([...asks(1, 1), ...asks(1, 5000)], {
      targetTokens: 100,
      summarizer: failing,
    });

    expect(outcome.status).not.toBe('compacted');
    expect(outcome.status).not.toBe('skipped');
  });

  it('gives the summary as the best there is when what must stay is above the target', async () => {
    const summarizer: Summarizer = {
      ...countingSummarizer,
      summarize: async () => ({ status: 'summarized', text: 'the port is 8080', usage: undefined }),
    };
    const outcome = await climb(
      [...reads(6, 1000), ...asks(20, 1000), ...asks(2, 5000)],
      { targetTokens: 9000, summarizer },
      { keepRounds: 2 },
    );
    const summaries = changeOf(outcome)?.conversation.messages.map(readSummaryMessage);

    expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
    expect(outcome).toMatchObject({ message: expect.stringContaining('the newest rounds (10') });
    expect(summaries?.filter((one) => one !== undefined)).toEqual([
      expect.stringContaining('- By a model: the port is 8080'),
    ]);
  });

  it('is due when a rung is', () => {
    const isDue = (options: Readonly<Record<string, unknown>>) =>
      createStrategy('ladder', options).isDue?.(session(asks(4, 10)), { estimator });

    expect(isDue({})).toBe(false);
    expect(isDue({ thresholdMessages: 9 })).toBe(true);
    expect(isDue({ thresholdMessages: 10 })).toBe(false);
    expect(isDue({ thresholdTokens: 50 })).toBe(true);
  });
});
