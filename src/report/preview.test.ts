import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../test/support/shapes.ts';
import { strategyContext } from '../../test/support/strategy-context.ts';
import type { Compacted } from '../compaction/plan/strategy.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { preview, survivalLines } from './preview.ts';

const read = (shape: string, padding?: string) =>
  anthropicMessages.read(messagesOfShape(shape, padding).map(({ raw }) => raw));

async function previewOf(
  shape: string,
  strategy: string,
  options: object,
  padding?: string,
): Promise<string[]> {
  const conversation = read(shape, padding);
  const outcome = await createStrategy(strategy, { ...options }).compact(conversation, strategyContext());
  expect(outcome.status).toBe('compacted');
  return preview(conversation, outcome as Compacted, { columns: 80 }).split('\n');
}

describe('preview', () => {
  it('shows what leaves and what stays, in order', async () => {
    const lines = await previewOf('ucracrua', 'sliding-window', { keepLast: 2 });

    expect(lines.map((line) => line.replaceAll(/\s+/g, ' ').replace(/(user|assistant) \d+/, '$1 n'))).toEqual(
      [
        ' # role tokens message',
        ' 0 user n question 0',
        '- 1 assistant n [called read_file]',
        '- 2 user n [tool result: text 2]',
        '- 3 assistant n answer 3',
        '- 4 assistant n [called read_file]',
        '- 5 user n [tool result: text 5]',
        ' 6 user n question 6',
        ' 7 assistant n answer 7',
        expect.stringMatching(/^[\d,]+ → [\d,]+ tokens, 8 → 3 messages$/),
        '',
      ],
    );
  });

  it('shows what is made smaller with its tokens before and after', async () => {
    const options = { protectTokens: 1, minBatchTokens: 1 };
    const lines = await previewOf('ucracrua', 'clear-tool-results', options, ' and so on'.repeat(40));

    expect(lines.filter((line) => line.startsWith('~'))).toEqual([
      expect.stringMatching(/^~ +2 +user +\d+→\d+ +\[tool result: text 2/),
      expect.stringMatching(/^~ +5 +user +\d+→\d+ +\[tool result: text 5/),
    ]);
  });

  it('tells the inside of a long run in one line, however long it is', async () => {
    const lines = await previewOf(`u${'cr'.repeat(500)}a`, 'sliding-window', { keepLast: 1 });

    expect(lines.length).toBeLessThan(15);
    expect(lines.join('\n')).toMatch(/^- +… +[\d,]+ +… 994 more messages$/m);
  });

  it('says what became of the facts that a summary stands for, by kind', async () => {
    const conversation = anthropicMessages.read([
      { role: 'user', content: 'task' },
      ...Array.from({ length: 6 }, (_, index) => [
        { role: 'assistant', content: `answer ${'word '.repeat(200)}` },
        { role: 'user', content: `Go on with ${index}. Never use port ${50_000 + index}.` },
      ]).flat(),
    ]);
    const outcome = await createStrategy('summarize', { keepRounds: 2 }).compact(
      conversation,
      strategyContext(),
    );

    expect(
      preview(conversation, outcome as Compacted)
        .split('\n')
        .slice(-5),
    ).toEqual([
      'constraints  3 of 3 kept',
      expect.stringMatching(/^asks {9}3 of 3 kept/),
      'numbers      3 of 3 kept',
      expect.stringMatching(/ tokens, 13 → \d+ messages$/),
      '',
    ]);
  });

  it('stays within its columns', async () => {
    const lines = await previewOf('ucracrua', 'sliding-window', { keepLast: 2 }, ' word'.repeat(90));

    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});

describe('survivalLines', () => {
  it('tells how many facts of each kind are kept, and how many are missing', () => {
    const lines = survivalLines(
      [
        { kind: 'constraint', found: 12, kept: 12, lost: 0, examples: [] },
        { kind: 'open-work', found: 2, kept: 2, lost: 0, examples: [] },
        { kind: 'number', found: 1200, kept: 3, lost: 1197, examples: ['1'] },
      ],
      '  ',
    );

    expect(lines.split('\n')).toEqual([
      '  constraints  12 of 12 kept',
      '  open work    2 of 2 kept',
      '  numbers      3 of 1,200 kept, 1,197 missing',
      '',
    ]);
  });

  it('names the demands that are missing, so that a terminal can show them', () => {
    const lines = survivalLines([
      { kind: 'constraint', found: 2, kept: 1, lost: 1, examples: ['Never \u001b[31mpush.'] },
    ]);

    expect(lines).toMatch(/^constraints {2}1 of 2 kept, 1 missing\nmissing: Never .*push\.\n$/);
    expect(lines).not.toContain('\u001b');
  });

  it('is empty without a summary', () => {
    expect(survivalLines(undefined)).toBe('');
    expect(survivalLines([])).toBe('');
  });
});
