import { describe, expect, it } from 'vitest';
import { strategyContext } from '../../test/support/strategy-context.ts';
import { readSummaryMessage, summaryMessageText } from '../core/summary-message.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import { createStrategy } from './registry.ts';

function round(index: number, name = 'bash') {
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name, input: { command: 'make' } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'output '.repeat(100) }],
    },
  ];
}

const rounds = (count: number) => Array.from({ length: count }, (_one, index) => round(index)).flat();
const task = { role: 'user', content: 'task' };

async function run(messages: readonly unknown[], options = {}) {
  return createStrategy('collapse', options).compact(anthropicMessages.read(messages), strategyContext());
}

async function summaryOf(messages: readonly unknown[], options = {}) {
  const outcome = await run(messages, options);
  const after = outcome.status === 'compacted' ? outcome.conversation.messages : [];
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
    'keeps the task, a list and keepRounds $keepRounds rounds: $length messages',
    async ({ keepRounds, length }) => {
      const found = await summaryOf([task, ...rounds(8)], keepRounds === undefined ? {} : { keepRounds });

      expect(found.length).toBe(length);
      expect(found.summaries).toHaveLength(1);
    },
  );

  it('lists the tools that were called, most often first, twenty at most', async () => {
    const many = Array.from({ length: 30 }, (_one, index) => round(100 + index, `tool${index}`)).flat();
    const { summaries } = await summaryOf([task, ...rounds(8), ...many]);

    expect(summaries[0]).toMatch(/Tools that were called: bash ×8, tool0 ×1/);
    expect(summaries[0]?.match(/×/g)).toHaveLength(20);
    expect(summaries[0]).toMatch(/^\d+ earlier messages/);
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

  it('does nothing where the list would be longer than what it stands for', async () => {
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
