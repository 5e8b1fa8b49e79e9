import { describe, expect, it } from 'vitest';
import { countingSummarizer, strategyContext } from '../../test/support/strategy-context.ts';
import type { Conversation } from '../core/format.ts';
import { textOf } from '../core/message.ts';
import { requestTokens } from '../core/receipt.ts';
import type { StrategyContext } from '../core/strategy.ts';
import type { Summarizer, SummaryOutcome, SummaryRequest } from '../core/summarizer.ts';
import { readMarkedSummary, readSummaryMessage, summaryMessageText } from '../core/summary-message.ts';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import { createStrategy } from './registry.ts';

/** One token for each character, three for each message. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

const task = { role: 'user', content: 'task' };
const answer = (length: number) => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'x'.repeat(length) }],
});
const ask = { role: 'user', content: 'more' };

/** Rounds of 1000 tokens: an answer and the next question. */
const session = (rounds: number, length = 990) =>
  anthropicMessages.read([task, ...Array.from({ length: rounds }, () => [answer(length), ask]).flat()]);

/** A summarizer that gives this answer and keeps what it was asked. */
function recording(answered: Partial<SummaryOutcome> | ((request: SummaryRequest) => string) = {}) {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    name: 'recording',
    asksModel: false,
    async summarize(request) {
      requests.push(request);
      const text = typeof answered === 'function' ? answered(request) : 'summary';
      const given = typeof answered === 'function' ? {} : answered;
      return { status: 'summarized', text, usage: undefined, ...given } as SummaryOutcome;
    },
  };
  return { requests, summarizer };
}

async function run(
  options: Readonly<Record<string, unknown>> = {},
  given: Partial<StrategyContext> & { conversation?: Conversation } = {},
) {
  const { conversation = session(20), ...rest } = given;
  return createStrategy('summarize', options).compact(
    conversation,
    strategyContext({ estimator, targetTokens: 8000, trigger: 'auto', ...rest }),
  );
}

/** How many messages are left, or why all are. */
async function left(...args: Parameters<typeof run>) {
  const outcome = await run(...args);
  return outcome.status === 'compacted' ? outcome.conversation.messages.length : outcome.reason;
}

describe('when summarize acts', () => {
  const whole = Math.round(requestTokens(session(20), estimator));

  it('takes the target of the run without a threshold of its own', async () => {
    expect(await left({}, { targetTokens: whole })).toBe('below-threshold');
    expect(await left({}, { targetTokens: whole - 1 })).toEqual(expect.any(Number));
  });

  it('acts from so many tokens on as threshold says', async () => {
    expect(await left({ threshold: whole + 1 })).toBe('below-threshold');
    expect(await left({ threshold: whole - 1 })).toEqual(expect.any(Number));
    expect(await left({ threshold: whole })).toEqual(expect.any(Number));
  });

  it('acts from so many messages on as thresholdMessages says, however few tokens they have', async () => {
    const targetTokens = 100_000;

    expect(await left({}, { targetTokens })).toBe('below-threshold');
    expect(await left({ thresholdMessages: 42 }, { targetTokens })).toBe('below-threshold');
    expect(await left({ thresholdMessages: 41, keepRecent: 0 }, { targetTokens })).toEqual(
      expect.any(Number),
    );
  });

  it('acts when the user asks for it, whatever the thresholds say', async () => {
    const options = { threshold: 1_000_000, keepRecent: 2000 };

    expect(await left(options, { trigger: 'manual' })).toEqual(expect.any(Number));
    expect(await left(options, { trigger: 'overflow' })).toBe('below-threshold');
  });

  it('asks nobody when there is nothing to do', async () => {
    const { requests, summarizer } = recording();
    await run({ threshold: 1_000_000 }, { summarizer });
    await run({ keepRounds: 50 }, { summarizer });
    await run({}, { summarizer, targetTokens: 10 });

    expect(requests).toEqual([]);
  });
});

describe('what summarize keeps', () => {
  it('keepRecent tokens of the newest rounds, at most a quarter of the target', async () => {
    const targetTokens = 16_100;

    expect(await left({ keepRecent: 0 }, { targetTokens })).toBe(7);
    expect(await left({ keepRecent: 3100 }, { targetTokens })).toBe(9);
    expect(await left({ keepRecent: 4025 }, { targetTokens })).toBe(11);
    expect(await left({ keepRecent: 20_000 }, { targetTokens })).toBe(11);
    expect(await left({}, { targetTokens })).toBe(11);
  });

  it('keepRounds rounds in any case, each with the question it answers', async () => {
    const options = { keepRecent: 0 };

    expect(await left({ ...options, keepRounds: 1 })).toBe(5);
    expect(await left(options)).toBe(7);
    expect(await left({ ...options, keepRounds: 5 })).toBe(13);
  });

  it('the task and the last question, as they are', async () => {
    const conversation = session(20);
    const outcome = await run({ keepRounds: 1, keepRecent: 0 }, { conversation });
    const kept = outcome.status === 'compacted' ? outcome.conversation.messages : [];

    expect(kept[0]).toBe(conversation.messages[0]);
    expect(kept.at(-1)).toBe(conversation.messages.at(-1));
    expect(readSummaryMessage(kept[1]!)).toMatch(/^\d+ messages$/);
  });
});

describe('what summarize asks for', () => {
  it('a summary of maxSummary tokens at most, and always less than it covers', async () => {
    const { requests, summarizer } = recording();
    await run({}, { summarizer: { ...summarizer, asksModel: true }, targetTokens: 15_000 });
    await run({ maxSummary: 500 }, { summarizer });
    await run({ maxSummary: 1_000_000, minGain: 0.5, keepRecent: 0 }, { summarizer, targetTokens: 15_000 });

    expect(requests[0]?.maximumTokens).toBe(8000);
    expect(requests[1]?.maximumTokens).toBe(500);
    const covered = requests[2]!.messages.reduce((sum, message) => sum + estimator.countMessage(message), 0);
    expect(requests[2]?.maximumTokens).toBe(Math.floor(covered / 2));
  });

  it('no more than the target leaves, whoever writes it', async () => {
    const { requests, summarizer } = recording();
    const targetTokens = 9000;
    await run({ keepRecent: 0 }, { summarizer, targetTokens });
    await run({ keepRecent: 0 }, { summarizer: { ...summarizer, asksModel: true }, targetTokens });
    const outcome = await run(
      { keepRecent: 0 },
      {
        targetTokens,
        summarizer: {
          ...summarizer,
          summarize: async ({ maximumTokens }) => ({
            status: 'summarized',
            text: 'x'.repeat(maximumTokens),
            usage: undefined,
          }),
        },
      },
    );

    expect(requests[0]?.maximumTokens).toBe(requests[1]?.maximumTokens);
    expect(outcome.status === 'compacted' ? outcome.receipt.tokensAfter : 0).toBeLessThanOrEqual(
      targetTokens,
    );
  });

  it('what the instructions say, and nothing when they are empty', async () => {
    const { requests, summarizer } = recording();
    await run({}, { summarizer });
    await run({ instructions: 'keep the ports' }, { summarizer });

    expect(requests.map(({ instructions }) => instructions)).toEqual([undefined, 'keep the ports']);
  });

  it('exactly the messages that leave, without an earlier summary, which it is given apart', async () => {
    const { requests, summarizer } = recording();
    const conversation = anthropicMessages.read([
      task,
      { role: 'user', content: summaryMessageText('once') },
      ...Array.from({ length: 20 }, () => [answer(990), ask]).flat(),
    ]);
    const outcome = await run({ keepRecent: 0 }, { summarizer, conversation });
    const runs = outcome.status === 'compacted' ? outcome.receipt.runs : [];
    const leaving = runs
      .filter(({ fate }) => fate === 'summarised')
      .flatMap(({ start, end }) => conversation.messages.slice(start, end));

    expect(requests[0]?.previousSummary).toBe('once');
    expect(requests[0]?.messages).toEqual(
      leaving.filter((message) => readSummaryMessage(message) === undefined),
    );
    expect(leaving.map(readSummaryMessage)).toContain('once');
  });

  it('with the signal of the run', async () => {
    const { requests, summarizer } = recording();
    const { signal } = new AbortController();
    await run({}, { summarizer, signal });

    expect(requests[0]?.signal).toBe(signal);
  });
});

describe('what summarize takes for an answer', () => {
  const usage = { promptTokens: 900, outputTokens: 90 };

  it.each(['empty', 'truncated', 'refused', 'upstream', 'aborted'] as const)(
    'no summary that is %s: it failed, its cost is told, nothing is changed',
    async (reason) => {
      const { summarizer } = recording({ status: 'failed', reason, message: 'why', usage });

      expect(await run({}, { summarizer })).toEqual({
        status: 'failed',
        reason: `summary-${reason}`,
        message: 'why',
        usage,
      });
    },
  );

  it.each(['', '  \n\t '])('no blank summary: %j', async (text) => {
    const { summarizer } = recording(() => text);

    expect(await run({}, { summarizer })).toMatchObject({ status: 'failed', reason: 'summary-empty' });
  });

  it('no summary larger than was asked for', async () => {
    const { summarizer } = recording(() => 's'.repeat(700));

    expect(await run({ maxSummary: 500 }, { summarizer })).toMatchObject({
      status: 'failed',
      reason: 'summary-too-large',
    });
  });

  it('no throw: a summarizer that breaks has failed like one that says so', async () => {
    const summarizer: Summarizer = {
      ...countingSummarizer,
      summarize: () => Promise.reject(new Error('socket closed')),
    };

    expect(await run({}, { summarizer })).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('socket closed'),
    });
  });

  it.each([0.8, 1, 1.2])('no summary of %d times its source', async (share) => {
    const { summarizer } = recording(({ messages }) =>
      's'.repeat(
        Math.ceil(share * messages.reduce((sum, message) => sum + estimator.countMessage(message), 0)),
      ),
    );

    expect((await run({ maxSummary: 1_000_000 }, { summarizer })).status).not.toBe('compacted');
  });

  it('nothing that makes the request larger, not even below the target', async () => {
    const { summarizer } = recording(() => 'a summary');
    const conversation = session(3, 40);

    expect(
      (await run({ keepRounds: 1, keepRecent: 0 }, { summarizer, conversation, trigger: 'manual' })).status,
    ).not.toBe('compacted');
  });

  it('the cost of a good one too', async () => {
    const { summarizer } = recording({ usage });

    expect(await run({}, { summarizer })).toMatchObject({ status: 'compacted', usage });
  });
});

describe('when summarize refuses before it asks', () => {
  it('minGain of the request must be old enough, a fifth unless told otherwise', async () => {
    const { requests, summarizer } = recording();
    const conversation = anthropicMessages.read([task, answer(2000), ask, answer(8000), ask, answer(1), ask]);
    const given = { conversation, targetTokens: 9000, summarizer };

    expect(await left({ keepRecent: 0 }, given)).toBe('gain-too-small');
    expect(requests).toEqual([]);
    expect(await left({ keepRecent: 0, minGain: 0.1 }, given)).toBe(7);
    expect(await left({ keepRecent: 0, minGain: 0.9, keepRounds: 1 }, given)).toBe(5);
    expect(await left({ keepRecent: 0, minGain: 1, keepRounds: 1 }, given)).toBe('gain-too-small');
  });

  it('an automatic run whose floor is above the target, with the reason for people', async () => {
    const { requests, summarizer } = recording();
    const conversation = anthropicMessages.read({
      system: 's'.repeat(9000),
      messages: session(20).frame.list,
    });
    const outcome = await run({}, { conversation, summarizer });

    expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
    expect(outcome.status === 'insufficient' ? outcome.message : '').toMatch(
      /the instructions \(9000 tokens\)/,
    );
    expect(requests).toEqual([]);
    expect(await left({}, { conversation, summarizer, trigger: 'manual' })).toEqual(expect.any(Number));
    expect(await left({}, { conversation, summarizer, trigger: 'overflow' })).toEqual(expect.any(Number));
  });

  it('a summary with nothing new behind it', async () => {
    const { requests, summarizer } = recording();
    const conversation = anthropicMessages.read([
      task,
      { role: 'user', content: summaryMessageText('s'.repeat(9000)) },
      answer(10),
      ask,
      answer(10),
      ask,
    ]);

    expect(await left({}, { conversation, summarizer, trigger: 'manual' })).toBe('nothing-old');
    expect(requests).toEqual([]);
  });
});

describe('what summarize pays for the demands of the user', () => {
  const demands = Array.from({ length: 20 }, (_, index) => `Never use port number ${50_000 + index}.`);
  const rounds = Array.from({ length: 20 }, (_, index) => [
    answer(990),
    { role: 'user', content: demands[index] },
  ]);
  const conversation = anthropicMessages.read([task, ...rounds.flat(), answer(10), ask]);
  const filling = (asksModel: boolean) => {
    const asked: number[] = [];
    const summarizer: Summarizer = {
      name: 'filling',
      asksModel,
      async summarize({ maximumTokens }) {
        asked.push(maximumTokens);
        return {
          status: 'summarized',
          text: 'x'.repeat(maximumTokens),
          usage: { promptTokens: 1, outputTokens: 2 },
        };
      },
    };
    return { asked, summarizer };
  };
  const given = { conversation, targetTokens: 9000 };

  it.each([
    { who: 'a model, asked once', asksModel: true, times: 1 },
    { who: 'anybody else, asked again with less', asksModel: false, times: 2 },
  ])('room of the summary by $who, so that the target is met', async ({ asksModel, times }) => {
    const { asked, summarizer } = filling(asksModel);
    const outcome = await run({ keepRecent: 0 }, { ...given, summarizer });
    if (outcome.status !== 'compacted') throw new Error(outcome.message);

    expect(asked).toHaveLength(times);
    expect(outcome.usage).toEqual({ promptTokens: times, outputTokens: 2 * times });
    expect(outcome.receipt.tokensAfter).toBeLessThanOrEqual(given.targetTokens);
    expect(outcome.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', restored: 18, lost: 0 }),
    );
  });

  it('at most half of it, and more than that at the cost of the target', async () => {
    const { asked, summarizer } = filling(true);
    const outcome = await run({ keepRecent: 0, maxSummary: 400 }, { ...given, summarizer });
    const texts = outcome.status === 'compacted' ? JSON.stringify(outcome.conversation.messages) : '';

    expect(asked).toEqual([200]);
    expect(demands.filter((demand) => !texts.includes(demand))).toEqual([]);
  });

  it('nothing when the summary has them', async () => {
    const { requests, summarizer } = recording(({ messages }) =>
      messages.flatMap(({ role, blocks }) => (role === 'user' ? blocks.map(textOf) : [])).join('\n'),
    );
    const outcome = await run({ keepRecent: 0 }, { ...given, summarizer });

    expect(requests).toHaveLength(1);
    expect(outcome.status === 'compacted' ? outcome.receipt.survival : []).toContainEqual(
      expect.objectContaining({ kind: 'constraint', kept: 18, restored: 0, lost: 0 }),
    );
  });

  it('the first summary when there is no shorter one', async () => {
    let times = 0;
    const summarizer: Summarizer = {
      ...filling(false).summarizer,
      summarize: async ({ maximumTokens }) =>
        times++ === 0
          ? { status: 'summarized', text: 'x'.repeat(maximumTokens), usage: undefined }
          : { status: 'failed', reason: 'too-large', message: 'no', usage: undefined },
    };

    expect(await run({ keepRecent: 0 }, { ...given, summarizer })).toMatchObject({ status: 'compacted' });
  });
});

describe('what summarize keeps beside a digest', () => {
  const filling: Summarizer = {
    name: 'filling',
    asksModel: false,
    fillsTarget: true,
    summarize: async ({ maximumTokens }) => ({
      status: 'summarized',
      text: 'x'.repeat(maximumTokens),
      usage: undefined,
    }),
  };
  /** Rounds that are left, each with one answer. */
  const keptRounds = async (given: Partial<StrategyContext>) => {
    const outcome = await run({}, { summarizer: filling, ...given });
    if (outcome.status !== 'compacted') return Number.NaN;
    expect(outcome.receipt.tokensAfter).toBeLessThanOrEqual(given.targetTokens ?? 0);
    return outcome.conversation.messages.filter(({ role }) => role === 'assistant').length;
  };

  it('fewer of the newest rounds, since it fills the target', async () => {
    const targetTokens = 12_000;

    expect(await keptRounds({ targetTokens })).toBe(1);
    expect(await keptRounds({ targetTokens, summarizer: countingSummarizer })).toBe(2);
  });

  it('the newest round in an automatic run, and not where so small a target was asked for', async () => {
    const targetTokens = 1900;

    expect(await keptRounds({ targetTokens, trigger: 'auto' })).toBe(1);
    expect(await keptRounds({ targetTokens, trigger: 'manual' })).toBe(0);
  });
});

describe('a summarizer with a window of its own', () => {
  /** Reads so many messages at most. */
  const narrow = (most: number) => {
    const shown: (readonly unknown[])[] = [];
    const summarizer: Summarizer = {
      name: 'narrow',
      asksModel: true,
      async summarize({ messages }) {
        if (messages.length > most)
          return { status: 'failed', reason: 'input-too-long', message: 'too long', usage: undefined };
        shown.push(messages.map(({ raw }) => raw));
        return { status: 'summarized', text: 'summary', usage: undefined };
      },
    };
    return { shown, summarizer };
  };

  it.each([30, 20, 10, 4])('is shown %i messages at most; the newest stay as they are', async (most) => {
    const conversation = session(20);
    const { shown, summarizer } = narrow(most);
    const outcome = await run({}, { conversation, summarizer });

    if (outcome.status !== 'compacted') throw new Error(outcome.message);
    const [gone] = outcome.receipt.runs
      .filter(({ fate }) => fate === 'summarised')
      .map(({ start, end }) => conversation.messages.slice(start, end).map(({ raw }) => raw));
    expect(gone).toEqual(shown[0]);
    expect(gone?.length).toBeLessThanOrEqual(most);
    expect(gone?.length).toBeGreaterThanOrEqual(Math.floor(most / 2));
  });

  it('fails when not even the oldest round fits', async () => {
    const { shown, summarizer } = narrow(0);

    expect(await left({}, { summarizer })).toBe('summary-input-too-long');
    expect(shown).toEqual([]);
  });
});

describe('the name of what left', () => {
  it('stands in the summary where something is kept, and is asked for the messages that leave', async () => {
    const named: number[] = [];
    const handleFor = (messages: readonly unknown[]) => {
      named.push(messages.length);
      return 'rf:0123abc';
    };
    const outcome = await run({}, { handleFor });

    if (outcome.status !== 'compacted') throw new Error(outcome.message);
    const summary = outcome.conversation.messages.map(readMarkedSummary).find((read) => read !== undefined);
    expect(summary?.handle).toBe('rf:0123abc');
    expect(named).toEqual([session(20).messages.length - outcome.conversation.messages.length + 1]);
  });

  it('is nowhere where nothing is kept', async () => {
    const outcome = await run();

    if (outcome.status !== 'compacted') throw new Error(outcome.message);
    expect(JSON.stringify(outcome.conversation.messages.map(({ raw }) => raw))).not.toContain('rf:');
  });
});

describe('a text of the user that fills half of the target', () => {
  const long = { role: 'user', content: `Never touch main. ${'task '.repeat(600)}` };
  const conversation = anthropicMessages.read([
    long,
    ...Array.from({ length: 20 }, () => [answer(990), ask]).flat(),
  ]);
  const filling = { ...recording().summarizer, fillsTarget: true };
  const isKept = async (given: Partial<StrategyContext>) => {
    const outcome = await run({}, { conversation, summarizer: filling, ...given });
    if (outcome.status !== 'compacted') throw new Error(outcome.message);
    return outcome.conversation.messages.some(({ raw }) => raw === long);
  };

  it.each([
    { trigger: 'auto', targetTokens: 5000, kept: true },
    { trigger: 'manual', targetTokens: 5000, kept: false },
    { trigger: 'manual', targetTokens: 7000, kept: true },
  ] as const)('stays in an automatic run, and where there is room: $trigger, $targetTokens', async (row) => {
    expect(await isKept({ trigger: row.trigger, targetTokens: row.targetTokens })).toBe(row.kept);
  });

  it('leaves its demands word for word', async () => {
    const outcome = await run(
      {},
      { conversation, summarizer: filling, trigger: 'manual', targetTokens: 5000 },
    );

    if (outcome.status !== 'compacted') throw new Error(outcome.message);
    const text = outcome.conversation.messages.map(readSummaryMessage).find((read) => read !== undefined);
    expect(text).toContain('Never touch main.');
  });
});
