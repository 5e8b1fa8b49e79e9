import { describe, expect, it } from 'vitest';
import type { SessionRow } from './session-row.ts';
import { agentTotals, formatDollars, sessionsText } from './sessions-text.ts';

const cost = {
  dollars: 12.5,
  unpriced: 0,
  responses: 9,
  inputTokens: 1,
  cacheReadTokens: 2,
  cacheWriteTokens: 3,
  outputTokens: 4,
};
const row: SessionRow = {
  file: '/sessions/1.jsonl',
  agent: 'claude-code',
  id: '1',
  project: '/work/harbour-of-many-boats',
  branch: undefined,
  model: undefined,
  startedAt: '2026-11-01T10:00:00.000Z',
  usedAt: '2026-11-01T11:00:00.000Z',
  prompt: 'Find out why the ferry is late whenever the tide is low.',
  rounds: 120,
  contextTokens: 150_000,
  windowTokens: 200_000,
  compactions: 2,
  cost,
  isSideChain: false,
  subagents: 0,
  fault: undefined,
};

function linesOn(columns: number, isScreen: boolean): readonly string[] {
  const totals = { cost, legal: 1, broken: 0, unreadable: 0, agents: agentTotals([row]) };
  const style = (_: string, text: string) => text;
  const wrap = (text: string) => text;
  return sessionsText([row], totals, { columns, isScreen, style, wrap }).split('\n').slice(0, 2);
}

describe('the list of sessions', () => {
  it.each([
    { columns: 140, left: ['used', 'agent', 'project', 'rounds', 'context', 'compacted', 'cost'] },
    { columns: 100, left: ['used', 'agent', 'project', 'context', 'cost'] },
    { columns: 60, left: ['used', 'context', 'cost'] },
  ])('leaves columns out where a screen has $columns, so that no line is broken', ({ columns, left }) => {
    const [headings = '', line = ''] = linesOn(columns, true);

    expect(headings.split(/\s+/).filter((word) => word !== '')).toEqual(left);
    expect(line.length).toBeLessThanOrEqual(columns);
    expect(line).toContain('Find out why');
  });

  it('has all columns where no screen breaks lines', () => {
    expect(linesOn(60, false)[0]).toContain('compacted');
  });
});

it.each([
  [0, '$0.00'],
  [0.0012, '$0.0012'],
  [12.345, '$12.35'],
  [25_327.18, '$25,327.18'],
  [-4.13, '-$4.13'],
])('%d dollars are %s', (dollars, text) => {
  expect(formatDollars(dollars)).toBe(text);
});
