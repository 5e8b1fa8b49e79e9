import { describe, expect, it } from 'vitest';
import { answer, ask, filling, madeBy, runSummarize, task } from '../../../test/support/summarize-runs.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { memory } from '../../memory/summarizer.ts';
import { changeOf } from '../plan/strategy.ts';

describe('what a summary pays for the demands of the user', () => {
  const demands = Array.from({ length: 20 }, (_, index) => `Never use port number ${50_000 + index}.`);
  const rounds = demands.map((content) => [answer(990), { role: 'user', content }]);
  const conversation = anthropicMessages.read([task, ...rounds.flat(), answer(10), ask]);
  const given = { conversation, targetTokens: 9000 };
  const options = { keepRounds: 2 };

  it.each([
    { who: 'a model', asksModel: true },
    { who: 'anybody else', asksModel: false },
  ])('room of the summary by $who, asked once, so that the target is met', async ({ asksModel }) => {
    const { asked, summarizer } = filling({ asksModel });
    const outcome = await runSummarize(options, { ...given, summarizer });

    expect(asked).toHaveLength(1);
    expect(outcome).toMatchObject({ status: 'compacted', usage: { promptTokens: 1, outputTokens: 2 } });
    expect(changeOf(outcome)?.receipt.tokensAfter).toBeLessThanOrEqual(given.targetTokens);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', found: 18, kept: 18, lost: 0 }),
    );
  });

  it.each([true, false])(
    'at most half of it, and more than that at the cost of the target (asks a model: %s)',
    async (asksModel) => {
      const { asked, summarizer } = filling({ asksModel });
      const outcome = await runSummarize({ ...options, maxSummaryTokens: 400 }, { ...given, summarizer });
      const texts = JSON.stringify(madeBy(outcome));

      expect(asked).toEqual([200]);
      expect(texts).toContain('x'.repeat(200));
      expect(demands.filter((demand) => !texts.includes(demand))).toEqual([]);
    },
  );

  it('nothing twice: our own memory tells each of them once', async () => {
    const outcome = await runSummarize(options, { ...given, summarizer: memory });
    const texts = madeBy(outcome).flatMap(({ blocks }) => blocks.map((block) => JSON.stringify(block.raw)));

    for (const demand of demands) expect(texts.join('\n').split(demand)).toHaveLength(2);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', kept: 18, lost: 0 }),
    );
  });

  it('as much as they need, before anything else is told', async () => {
    const checked = demands.map((content, index) => [
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command: `npm test part${index}` } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${index}`,
            content: `${index} failed in src/part${index}.ts`,
          },
          { type: 'text', text: content },
        ],
      },
    ]);
    const outcome = await runSummarize(
      { ...options, maxSummaryTokens: 100 },
      {
        conversation: anthropicMessages.read([task, ...checked.flat(), answer(10), ask]),
        targetTokens: 1500,
        summarizer: memory,
      },
    );
    const texts = JSON.stringify(madeBy(outcome));

    expect(demands.filter((demand) => !texts.includes(demand))).toEqual([]);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', lost: 0 }),
    );
  });
});
