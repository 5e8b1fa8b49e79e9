import { describe, expect, it } from 'vitest';
import {
  answer,
  ask,
  filling,
  madeBy,
  recording,
  runSummarize,
  task,
} from '../../test/support/summarize-runs.ts';
import { textOf } from '../core/message.ts';
import { changeOf } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';

describe('what a summary pays for the demands of the user', () => {
  const demands = Array.from({ length: 20 }, (_, index) => `Never use port number ${50_000 + index}.`);
  const rounds = demands.map((content) => [answer(990), { role: 'user', content }]);
  const conversation = anthropicMessages.read([task, ...rounds.flat(), answer(10), ask]);
  const given = { conversation, targetTokens: 9000 };
  const options = { keepRounds: 2 };

  it.each([
    { who: 'a model, asked once', asksModel: true, times: 1 },
    { who: 'anybody else, asked again with less', asksModel: false, times: 2 },
  ])('room of the summary by $who, so that the target is met', async ({ asksModel, times }) => {
    const { asked, summarizer } = filling({ asksModel });
    const outcome = await runSummarize(options, { ...given, summarizer });

    expect(asked).toHaveLength(times);
    expect(outcome).toMatchObject({
      status: 'compacted',
      usage: { promptTokens: times, outputTokens: 2 * times },
    });
    expect(changeOf(outcome)?.receipt.tokensAfter).toBeLessThanOrEqual(given.targetTokens);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', restored: 18, lost: 0 }),
    );
  });

  it('at most half of it, and more than that at the cost of the target', async () => {
    const { asked, summarizer } = filling({ asksModel: true });
    const outcome = await runSummarize({ ...options, maxSummaryTokens: 400 }, { ...given, summarizer });
    const texts = JSON.stringify(madeBy(outcome));

    expect(asked).toEqual([200]);
    expect(demands.filter((demand) => !texts.includes(demand))).toEqual([]);
  });

  it('nothing when the summary has them', async () => {
    const { requests, summarizer } = recording(({ messages }) =>
      messages.flatMap(({ role, blocks }) => (role === 'user' ? blocks.map(textOf) : [])).join('\n'),
    );
    const outcome = await runSummarize(options, { ...given, summarizer });

    expect(requests).toHaveLength(1);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', kept: 18, restored: 0, lost: 0 }),
    );
  });

  it('the first summary when there is no shorter one', async () => {
    let times = 0;
    const summarizer: Summarizer = {
      ...filling().summarizer,
      summarize: async ({ maximumTokens }) =>
        times++ === 0
          ? { status: 'summarized', text: 'x'.repeat(maximumTokens), usage: undefined }
          : { status: 'failed', reason: 'too-large', message: 'no', usage: undefined },
    };

    expect(madeBy(await runSummarize(options, { ...given, summarizer })).length).toBeLessThan(10);
  });
});
