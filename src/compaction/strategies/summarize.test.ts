import { describe, expect, it } from 'vitest';
import { countingSummarizer } from '../../../test/support/strategy-context.ts';
import {
  answer,
  ask,
  characters,
  countLeft,
  filling,
  madeBy,
  recording,
  runSummarize,
  session,
  task,
} from '../../../test/support/summarize-runs.ts';
import {
  readMarkedSummary,
  readSummaryMessage,
  summaryMessageText,
} from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { findMarker } from '../../memory/markers.ts';
import type { Summarizer } from '../../memory/summary-request.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

const tokensOf = (messages: readonly Parameters<typeof characters.countMessage>[0][]) =>
  messages.reduce((sum, message) => sum + characters.countMessage(message), 0);

describe('when summarize acts', () => {
  const whole = Math.round(requestTokens(session(20), characters));

  it('takes the target of the run without a threshold of its own', async () => {
    expect(await countLeft({}, { targetTokens: whole })).toBe('below-threshold');
    expect(await countLeft({}, { targetTokens: whole - 1 })).toEqual(expect.any(Number));
  });

  it('acts from so many tokens on as thresholdTokens says', async () => {
    expect(await countLeft({ thresholdTokens: whole + 1 })).toBe('below-threshold');
    expect(await countLeft({ thresholdTokens: whole })).toEqual(expect.any(Number));
  });

  it('acts from so many messages on as thresholdMessages says, however few tokens they have', async () => {
    const targetTokens = 100_000;
    const options = { keepRounds: 2 };

    expect(await countLeft(options, { targetTokens })).toBe('below-threshold');
    expect(await countLeft({ ...options, thresholdMessages: 42 }, { targetTokens })).toBe('below-threshold');
    expect(await countLeft({ ...options, thresholdMessages: 41 }, { targetTokens })).toEqual(
      expect.any(Number),
    );
  });

  it('is due by its thresholds alone', () => {
    const isDue = (options: Readonly<Record<string, unknown>>) =>
      createStrategy('summarize', options).isDue?.(session(20), { estimator: characters });

    expect(isDue({})).toBe(false);
    expect(isDue({ thresholdTokens: whole })).toBe(true);
    expect(isDue({ thresholdTokens: whole + 1 })).toBe(false);
    expect(isDue({ thresholdMessages: 41 })).toBe(true);
    expect(isDue({ thresholdTokens: whole + 1, thresholdMessages: 41 })).toBe(true);
  });

  it('acts when the user asks for it or the window is full, whatever the thresholds say', async () => {
    const options = { thresholdTokens: 1_000_000 };

    expect(await countLeft(options, { trigger: 'manual' })).toEqual(expect.any(Number));
    expect(await countLeft(options, { trigger: 'auto' })).toBe('below-threshold');
    expect(await countLeft(options, { trigger: 'auto', isWindowFull: true })).toEqual(expect.any(Number));
  });

  it('keeps the same, whoever set it off', async () => {
    const lefts = (['auto', 'manual', 'overflow'] as const).map((trigger) => countLeft({}, { trigger }));

    expect(new Set(await Promise.all(lefts)).size).toBe(1);
  });

  it('asks nobody when there is nothing to do', async () => {
    const { requests, summarizer } = recording();
    await runSummarize({ thresholdTokens: 1_000_000 }, { summarizer });
    await runSummarize({ keepRounds: 50 }, { summarizer });

    expect(requests).toEqual([]);
  });
});

describe('what summarize asks for', () => {
  it.each([
    { rounds: 20, targetTokens: 15_000, isHalf: true },
    { rounds: 200, targetTokens: 100_000, isHalf: false },
  ])(
    'for a target of $targetTokens: of prose half of the room, 8,000 tokens at most',
    async ({ rounds, targetTokens, isHalf }) => {
      const { requests, summarizer } = recording();
      const given = { targetTokens, conversation: session(rounds) };
      await runSummarize({}, { ...given, summarizer: { ...summarizer, writesMemory: true } });
      const room = requests[0]?.maximumTokens ?? 0;
      for (const asksModel of [true, false])
        await runSummarize({}, { ...given, summarizer: { ...summarizer, asksModel } });

      const prose = isHalf ? Math.floor(room / 2) : 8000;
      expect(room / 2 < 8000).toBe(isHalf);
      expect(requests.slice(1).map(({ maximumTokens }) => maximumTokens)).toEqual([prose, prose]);
    },
  );

  it('no more than maxSummaryTokens, and always less than it covers', async () => {
    const { requests, summarizer: prose } = recording();
    const summarizer = { ...prose, writesMemory: true };
    const options = { maxSummaryTokens: 99_999, keepRounds: 2 };
    await runSummarize({ maxSummaryTokens: 500 }, { summarizer });
    await runSummarize({ ...options, minGain: 0.5 }, { summarizer, targetTokens: 15_000 });
    await runSummarize(options, { summarizer, targetTokens: 20_000 });

    expect(requests[0]?.maximumTokens).toBe(500);
    expect(requests[1]?.maximumTokens).toBe(Math.floor(tokensOf(requests[1]!.messages) / 2));
    expect(requests[2]?.maximumTokens).toBe(Math.floor(tokensOf(requests[2]!.messages) * 0.8));
  });

  it('no more than the target leaves, whoever writes it', async () => {
    const options = { keepRounds: 2 };
    const byNobody = filling();
    const byModel = filling({ asksModel: true });
    const outcome = await runSummarize(options, { summarizer: byNobody.summarizer, targetTokens: 9000 });
    await runSummarize(options, { summarizer: byModel.summarizer, targetTokens: 9000 });

    expect(byNobody.asked).toEqual(byModel.asked);
    expect(outcome.status).toBe('compacted');
    expect(changeOf(outcome)?.receipt.tokensAfter).toBeLessThanOrEqual(9000);
  });

  it('all that the target leaves of one that writes whole memories', async () => {
    const { summarizer } = filling({ writesMemory: true });
    const outcome = await runSummarize({}, { summarizer, targetTokens: 60_000, conversation: session(200) });

    expect(outcome.status).toBe('compacted');
    expect(changeOf(outcome)?.receipt.tokensAfter).toBeGreaterThan(59_900);
  });

  it('what the instructions say, and nothing when they are empty', async () => {
    const { requests, summarizer } = recording();
    await runSummarize({}, { summarizer });
    await runSummarize({ instructions: 'keep the ports' }, { summarizer });

    expect(requests.map(({ instructions }) => instructions)).toEqual([undefined, 'keep the ports']);
  });

  it('exactly the messages that leave, without an earlier summary, which it is given apart', async () => {
    const { requests, summarizer } = recording();
    const conversation = anthropicMessages.read([
      task,
      { role: 'user', content: summaryMessageText('once') },
      ...Array.from({ length: 20 }, () => [answer(990), ask]).flat(),
    ]);
    const outcome = await runSummarize({ keepRounds: 2 }, { summarizer, conversation });
    const leaving = changeOf(outcome)!
      .receipt.runs.filter(({ fate }) => fate === 'summarised')
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
    await runSummarize({}, { summarizer, signal });

    expect(requests[0]?.signal).toBe(signal);
  });
});

describe('what summarize takes for an answer', () => {
  const usage = { promptTokens: 900, outputTokens: 90 };

  it.each(['empty', 'truncated', 'refused', 'upstream', 'timed-out', 'aborted'] as const)(
    'no summary that is %s: it failed, its cost is told, nothing is changed',
    async (reason) => {
      const { summarizer } = recording({ status: 'failed', reason, message: 'why', usage });

      expect(await runSummarize({}, { summarizer })).toEqual({
        status: 'failed',
        reason: `summary-${reason}`,
        message: 'why',
        usage,
      });
    },
  );

  it.each(['', '  \n\t '])('no blank summary: %j', async (text) => {
    const { summarizer } = recording(() => text);

    expect(await runSummarize({}, { summarizer })).toMatchObject({
      status: 'failed',
      reason: 'summary-empty',
    });
  });

  it('no summary larger than was asked for', async () => {
    const { summarizer } = recording(() => 's'.repeat(700));
    const outcomeOf = (name: string) =>
      runSummarize({ maxSummaryTokens: 500 }, { summarizer: { ...summarizer, name } });

    // Somebody's own has failed then; what ours cannot say in fewer words is nobody's fault.
    expect(await outcomeOf('mine')).toMatchObject({ status: 'failed', reason: 'summary-too-large' });
    expect(await outcomeOf(countingSummarizer.name)).toMatchObject({
      status: 'insufficient',
      reason: 'summary-too-large',
    });
  });

  it('no throw: a summarizer that breaks has failed like one that says so', async () => {
    const summarizer: Summarizer = {
      ...countingSummarizer,
      summarize: () => Promise.reject(new Error('socket closed')),
    };

    expect(await runSummarize({}, { summarizer })).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('socket closed'),
    });
  });

  it.each([0.8, 1, 1.2])('no summary of %d times its source', async (share) => {
    const { summarizer } = recording(({ messages }) => 's'.repeat(Math.ceil(share * tokensOf(messages))));

    expect(await countLeft({ maxSummaryTokens: 1_000_000 }, { summarizer })).toEqual(expect.any(String));
  });

  it('nothing that makes the request larger, not even below the target', async () => {
    const { summarizer } = recording(() => 'a summary');
    const conversation = session(3, 40);

    expect(await countLeft({ keepRounds: 1 }, { summarizer, conversation, trigger: 'manual' })).toEqual(
      expect.any(String),
    );
  });

  it('the cost of a good one too', async () => {
    const { summarizer } = recording({ usage });

    expect(await runSummarize({}, { summarizer })).toMatchObject({ status: 'compacted', usage });
  });
});

describe('when summarize refuses before it asks', () => {
  it('minGain of the request must be old enough, a fifth unless told otherwise', async () => {
    const { requests, summarizer } = recording();
    const conversation = anthropicMessages.read([task, answer(2000), ask, answer(8000), ask, answer(1), ask]);
    const given = { conversation, targetTokens: 9000, summarizer };

    expect(await countLeft({ keepRounds: 2 }, given)).toBe('gain-too-small');
    expect(requests).toEqual([]);
    expect(await countLeft({ keepRounds: 2, minGain: 0.1 }, given)).toBe(7);
    expect(await countLeft({ keepRounds: 1, minGain: 0.9 }, given)).toBe(5);
    expect(await countLeft({ keepRounds: 1, minGain: 1 }, given)).toBe('gain-too-small');
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

    expect(await countLeft({}, { conversation, summarizer, trigger: 'manual' })).toBe('nothing-old');
    expect(requests).toEqual([]);
  });
});

describe('a target that cannot be met', () => {
  const conversation = anthropicMessages.read({
    system: 's'.repeat(9000),
    messages: session(20).frame.list,
  });

  it.each(['auto', 'manual', 'overflow'] as const)(
    'gives the best there is, and says what is in the way: %s',
    async (trigger) => {
      const { requests, summarizer: prose } = recording();
      const summarizer = { ...prose, writesMemory: true };
      const outcome = await runSummarize({}, { conversation, summarizer, trigger });

      expect(outcome).toMatchObject({
        status: 'insufficient',
        reason: 'floor-exceeds-target',
        message: expect.stringMatching(/the instructions \(9000 tokens\)/),
      });
      // Even the newest rounds have left: only the current turn stays.
      expect(madeBy(outcome)).toHaveLength(3);
      expect(madeBy(outcome).at(-1)).toBe(conversation.messages.at(-1));
      // The summary is as short as one can be: the instructions leave nothing.
      expect(requests).toHaveLength(1);
      expect(requests[0]?.maximumTokens).toBeLessThan(200);
    },
  );

  it('has the past told in nearly half of the target where a current turn fills it', async () => {
    const { requests, summarizer: prose } = recording();
    const summarizer = { ...prose, writesMemory: true };
    const asked = { role: 'user', content: 'why? '.repeat(1600) };
    const outcome = await runSummarize(
      {},
      { conversation: anthropicMessages.read([...session(20).frame.list, answer(10), asked]), summarizer },
    );

    expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
    expect(requests[0]?.maximumTokens).toBeGreaterThan(3400);
    expect(requests[0]?.maximumTokens).toBeLessThanOrEqual(3600);
  });

  it('is met as nearly as what somebody wants kept allows', async () => {
    const outcome = await runSummarize({ keepRecentTokens: 12_100 });

    expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
    expect(outcome).toMatchObject({ message: expect.stringContaining('the newest rounds (12007 tokens)') });
    expect(madeBy(outcome)).toHaveLength(27);
  });
});

describe('what the summary says about its place', () => {
  const covers = (outcome: Parameters<typeof madeBy>[0]) => findMarker(madeBy(outcome))?.coveredUntil;

  it('how many messages of the original list it stands for, those in front of it included', async () => {
    expect(covers(await runSummarize({ keepRounds: 1 }))).toBe(38);
    expect(covers(await runSummarize({ keepRounds: 2 }))).toBe(36);
  });

  it('the same after a second compaction of what the first one left', async () => {
    const first = changeOf(await runSummarize({ keepRounds: 1 }))!.conversation;
    const grown = anthropicMessages.read([
      ...first.messages.map(({ raw }) => raw),
      ...Array.from({ length: 10 }, () => [answer(990), ask]).flat(),
    ]);

    expect(covers(await runSummarize({ keepRounds: 1 }, { conversation: grown }))).toBe(58);
  });
});

describe('the name of what left', () => {
  it('stands in the summary where something is kept, and is asked for the messages that leave', async () => {
    const named: number[] = [];
    const handleFor = (messages: readonly unknown[]) => {
      named.push(messages.length);
      return 'rf:0123abc';
    };
    const messages = madeBy(await runSummarize({}, { handleFor }));
    const summary = messages.map(readMarkedSummary).find((read) => read !== undefined);

    expect(summary?.handle).toBe('rf:0123abc');
    expect(named).toEqual([session(20).messages.length - messages.length + 1]);
  });

  it('is nowhere where nothing is kept', async () => {
    expect(JSON.stringify(madeBy(await runSummarize()).map(({ raw }) => raw))).not.toContain('rf:');
  });
});
