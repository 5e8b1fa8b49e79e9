import { describe, expect, it } from 'vitest';
import type { Usage } from '../conversation/message.ts';
import { readConversation } from '../formats/registry.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { inspectConversation } from './inspection.ts';
import { inspectionText } from './inspection-text.ts';

const options = {
  columns: 80,
  isPlain: true,
  heading: (text: string) => text,
  wrap: (text: string) => text,
  level: (_level: string, text: string) => text,
};

function textOf(usage: Usage | undefined): string {
  const conversation = readConversation([
    { role: 'user', content: 'Tell me about kilns, in some detail, and leave nothing out that matters.' },
    { role: 'assistant', content: 'A kiln is an oven.' },
  ]);
  const messages = conversation.messages.map((view, index) => (index === 1 ? { ...view, usage } : view));
  const inspected = inspectConversation({ ...conversation, messages }, { estimator: createTokenEstimator() });
  return inspectionText(inspected, options);
}

/** The numbers at the ends of the rows of the first table. */
function rowsOf(text: string): readonly number[] {
  const rows = [...text.matchAll(/ %\s+(-?[\d,]+)$/gm)];
  return rows.map(([, count]) => Number(count?.replaceAll(',', '')));
}

describe('the text of an inspection', () => {
  it('names what the file does not hold, so that the rows add up to the context', () => {
    const text = textOf({ promptTokens: 70_000, outputTokens: 10 });

    expect(text).toContain('context 70,010 tokens');
    expect(text).toMatch(/^ {2}not in the file +#+\.* +100\.0 % +69,9\d\d$/m);
    expect(text).toContain('not in the file: unrecorded instructions and tools, hidden reasoning');
    expect(Math.abs(rowsOf(text).reduce((sum, count) => sum + count, 0) - 70_010)).toBeLessThanOrEqual(2);
  });

  it('has shares of the file and says how much of it was not sent, where the file holds more', () => {
    const text = textOf({ promptTokens: 5, outputTokens: 1 });

    expect(text).toMatch(/holds \d+ tokens more than were sent: the agent or a proxy leaves things out/);
    const shares = [...text.matchAll(/(-?[\d.]+) % +[\d,]+$/gm)].map(([, share]) => Number(share));
    expect(shares.every((share) => share >= 0)).toBe(true);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);
  });

  it('has nothing to name where nothing was reported', () => {
    expect(textOf(undefined)).not.toMatch(/not in the file|more than were sent/);
  });
});
