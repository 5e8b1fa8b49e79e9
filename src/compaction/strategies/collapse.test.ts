import { describe, expect, it } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { readSummaryMessage, summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { memory } from '../../memory/summarizer.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

const estimator = createTokenEstimator();

function round(index: number, command = 'make') {
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'output '.repeat(100) }],
    },
  ];
}

const rounds = (count: number) => Array.from({ length: count }, (_one, index) => round(index)).flat();
const task = { role: 'user', content: 'task' };

interface Terms {
  readonly keepRounds?: number;
  readonly targetTokens?: number;
}

async function run(messages: readonly unknown[], { keepRounds, targetTokens = 1000 }: Terms = {}) {
  return createStrategy('collapse', keepRounds === undefined ? {} : { keepRounds }).compact(
    anthropicMessages.read(messages),
    strategyContext({ estimator, ownSummarizer: memory, targetTokens }),
  );
}

async function summaryOf(messages: readonly unknown[], terms?: Terms) {
  const after = changeOf(await run(messages, terms))?.conversation.messages ?? [];
  return {
    length: after.length,
    summaries: after.map(readSummaryMessage).filter((one) => one !== undefined),
  };
}

describe('collapse', () => {
  it.each([
    { keepRounds: undefined, length: 4 },
    { keepRounds: 1, length: 4 },
    { keepRounds: 3, length: 8 },
  ])(
    'keeps the task, a memory and keepRounds $keepRounds rounds: $length messages',
    async ({ keepRounds, length }) => {
      const found = await summaryOf([task, ...rounds(8)], keepRounds === undefined ? {} : { keepRounds });

      expect(found.length).toBe(length);
      expect(found.summaries).toHaveLength(1);
    },
  );

  it('tells what was done, in 1,000 tokens at most, whatever the target has room for', async () => {
    const many = Array.from({ length: 300 }, (_one, index) => round(index, `make part-${index}`)).flat();
    const { summaries } = await summaryOf([task, ...many], { targetTokens: 40_000 });

    expect(summaries[0]).toMatch(/^Memory of 299 rounds\./);
    expect(summaries[0]).toContain('`make part-298`');
    expect(estimator.countText(summaries[0] ?? '')).toBeLessThanOrEqual(1000);
    expect(estimator.countText(summaries[0] ?? '')).toBeGreaterThan(800);
  });

  it('tells every demand of the user, whatever that takes', async () => {
    const demands = Array.from({ length: 120 }, (_one, index) => `Never open port ${50_000 + index}.`);
    const said = demands.flatMap((content, index) => [{ role: 'user', content }, ...round(index)]);
    const { summaries } = await summaryOf([
      task,
      ...said,
      { role: 'user', content: 'Go on.' },
      ...round(999),
    ]);

    expect(demands.filter((demand) => summaries[0]?.includes(demand) !== true)).toEqual([]);
    expect(estimator.countText(summaries[0] ?? '')).toBeGreaterThan(1000);
  });

  it('has nothing to do when all there is stays', async () => {
    expect(await run([task, ...round(1)])).toMatchObject({ status: 'skipped', reason: 'nothing-to-do' });
  });

  it('carries an earlier summary on: what it says is nowhere else', async () => {
    const earlier = { role: 'user', content: summaryMessageText('the port is 8080') };
    const { summaries } = await summaryOf([task, earlier, ...rounds(8)]);

    expect(summaries).toHaveLength(1);
    expect(summaries[0]).toContain('the port is 8080');
  });

  it('carries a memory on that names many handles, however little room the target leaves', async () => {
    const handles = Array.from({ length: 9 }, (_one, index) => `rf:${`${index}`.repeat(32)}`);
    const named = handles.map((handle, index) => `${'ABCDEFGHI'[index]} ${handle}`).join(', ');
    const text = `Memory of 90 rounds.\nThe original can be read again by handle and page, as (A1): ${named}\n\n## What the user said\n[1] The port is 8080.`;
    const earlier = { role: 'user', content: summaryMessageText(text) };
    const { summaries } = await summaryOf([task, earlier, ...rounds(8)], { targetTokens: 100 });

    expect(summaries).toHaveLength(1);
    for (const handle of handles) expect(summaries[0]).toContain(handle);
    expect(summaries[0]).toContain('[1] The port is 8080.');
  });

  it('does nothing where the memory would be longer than what it stands for', async () => {
    const short = [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'a short answer with a few words in it, no more' }],
      },
      { role: 'user', content: 'and' },
    ];

    expect((await run([task, ...short, ...round(1)])).status).not.toBe('compacted');
  });
});
