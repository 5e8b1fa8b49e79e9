import { describe, expect, it } from 'vitest';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { readConversation } from '../formats/registry.ts';
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
    expect(account.runs.map(({ about, handle }) => [about.slice(0, 12), handle])).toEqual([
      ['user: go', undefined],
      ['result: xxxx', 'rf:1'],
      ['assistant: c', undefined],
    ]);
  });
});
