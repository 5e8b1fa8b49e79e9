import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../test/support/shapes.ts';
import { strategyContext } from '../../test/support/strategy-context.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { readConversation } from '../formats/registry.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { accountForCompaction } from './compaction-account.ts';

const estimator = createTokenEstimator({ countText: (text) => text.length });
const call = (id: string, name: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: {} }],
});
const result = (id: string, size: number) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(size) }],
});

describe('accountForCompaction', () => {
  it('compares before and after, and gives each tool the same colour in both', () => {
    const before = readConversation([
      { role: 'user', content: 'go' },
      call('1', 'Read'),
      result('1', 900),
      call('2', 'Bash'),
      result('2', 300),
    ]);
    const after = readConversation([
      { role: 'user', content: 'go' },
      call('1', 'Read'),
      result('1', 10),
      call('2', 'Bash'),
      result('2', 300),
    ]);
    const runs = [
      { fate: 'verbatim', start: 0, end: 2, tokens: 10 },
      { fate: 'reduced', start: 2, end: 3, tokens: 900, handle: 'rf:1' },
      { fate: 'verbatim', start: 3, end: 5, tokens: 310 },
    ] as const;
    const receipt = {
      version: 1,
      strategy: 'ladder',
      messagesBefore: 5,
      messagesAfter: 5,
      tokensBefore: 1220,
      tokensAfter: 330,
      runs,
    } as const;
    const outcome = { conversation: after, receipt, reason: 'clear-tool-results' };
    const account = accountForCompaction(before, outcome, { estimator, targetTokens: 400 });
    const colours = (parts: typeof account.before.parts) =>
      parts.filter(({ isTool }) => isTool).map(({ name, colour }) => `${name} ${colour}`);

    expect(account).toMatchObject({ strategy: 'ladder', before: { tokens: 1220 }, after: { tokens: 330 } });
    expect(colours(account.before.parts)).toEqual(['Read s1', 'Bash s6']);
    expect(colours(account.after.parts)).toEqual(['Read s1', 'Bash s6']);
    expect(account.runs.map(({ about }) => about.slice(0, 12))).toEqual([
      'user: go',
      'result: xxxx',
      'assistant: c',
    ]);
  });

  it('names no handles: whoever reads a report has no store to look them up in', () => {
    const before = readConversation([{ role: 'user', content: 'go' }]);
    const receipt = {
      version: 1,
      strategy: 'snip',
      messagesBefore: 1,
      messagesAfter: 0,
      tokensBefore: 2,
      tokensAfter: 0,
      runs: [{ fate: 'dropped', start: 0, end: 1, tokens: 2, handle: 'rf:1' }],
    } as const;
    const account = accountForCompaction(
      before,
      { conversation: before, receipt, reason: 'a' },
      { estimator },
    );

    expect(JSON.stringify(account)).not.toContain('rf:1');
  });

  it('tells a summary from what the user said, although both have the same role', async () => {
    const messages = messagesOfShape('uauauauaua').map(({ raw }, index) =>
      index === 1 ? { role: 'assistant', content: 'I looked at src/berths.ts. '.repeat(200) } : raw,
    );
    const before = anthropicMessages.read(messages);
    const summarize = createStrategy('summarize', { keepRounds: 1, minGain: 0 });
    const outcome = await summarize.compact(before, strategyContext({ targetTokens: 500 }));
    if (outcome.status !== 'compacted') throw new Error(outcome.message);
    const { before: old, after: now } = accountForCompaction(before, outcome, {
      estimator: createTokenEstimator(),
    });
    const tokensOf = (parts: typeof old.parts, name: string) =>
      parts.find((part) => part.name === name)?.tokens ?? 0;

    expect(tokensOf(now.parts, 'summary')).toBeGreaterThan(0);
    expect(tokensOf(old.parts, 'summary')).toBe(0);
    expect(tokensOf(now.parts, 'user')).toBeLessThanOrEqual(tokensOf(old.parts, 'user'));
  });
});
