import { describe, expect, it } from 'vitest';
import type { Conversation } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import { readConversation } from '../formats/registry.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { inspectConversation } from './inspection.ts';

const estimator = createTokenEstimator({ countText: (text) => text.length });
const read = (id: string, path: string) => ({
  type: 'tool_use',
  id,
  name: 'Read',
  input: { file_path: path },
});
const result = (id: string, content: string, isError = false) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  is_error: isError,
});

const conversation = readConversation([
  { role: 'user', content: 'look' },
  { role: 'assistant', content: [read('1', 'a.ts'), read('2', 'b.ts')] },
  { role: 'user', content: [result('1', 'x'.repeat(500)), result('2', 'y'.repeat(90), true)] },
  { role: 'assistant', content: [read('3', 'a.ts')] },
  { role: 'user', content: [result('3', 'z'.repeat(300)), result('gone', 'orphan')] },
  { role: 'assistant', content: [read('4', 'c.ts')] },
]);

function reportUsage(usage: Usage): Conversation {
  const [first, second, ...rest] = conversation.messages;
  return { ...conversation, messages: [first!, { ...second!, usage }, ...rest] };
}

describe('inspectConversation', () => {
  const inspection = inspectConversation(conversation, { estimator, windowTokens: 1500, top: 2 });

  it('counts messages, rounds, calls and what has no other half', () => {
    expect(inspection).toMatchObject({
      messages: 6,
      rounds: 3,
      toolCalls: 4,
      unansweredCalls: 1,
      orphanResults: 1,
    });
  });

  it('adds up calls, errors and tokens by tool', () => {
    expect(inspection.byTool).toMatchObject([
      { tool: 'Read', calls: 4, errors: 1 },
      { tool: 'unknown tool', calls: 0, errors: 0, tokens: 6 },
    ]);
  });

  it('names the largest rounds and results, no more than asked for', () => {
    expect(inspection.largestResults).toEqual([
      { name: 'Read', path: 'a.ts', message: 2, tokens: 500 },
      { name: 'Read', path: 'a.ts', message: 4, tokens: 300 },
    ]);
    expect(inspection.largestRounds.map(({ name }) => name)).toEqual([
      'round 1 (messages 1–2)',
      'round 2 (messages 3–4)',
    ]);
  });

  it('finds files that were read again and what the older reads cost', () => {
    expect(inspection.repeatedReads).toEqual([{ path: 'a.ts', reads: 2, olderTokens: 500 }]);
  });

  it('tells how full the window is, where there is one', () => {
    expect(inspection.window).toMatchObject({ windowTokens: 1500, level: 'ok' });
    expect(inspectConversation(conversation, { estimator, windowTokens: 1000 }).window?.level).toBe(
      'critical',
    );
    expect(inspectConversation(conversation, { estimator }).window).toBeUndefined();
  });

  it.each([
    { why: 'more was reported than is here', promptTokens: 70_000 },
    { why: 'less was reported than is here', promptTokens: 40 },
  ])('adds up to the context: $why', ({ promptTokens }) => {
    const answered = reportUsage({ promptTokens, outputTokens: 10 });
    const { context, byClass, unaccounted } = inspectConversation(answered, { estimator });
    const found = Object.values(byClass).reduce((sum, size) => sum + size, 0);

    expect(Math.sign(unaccounted)).toBe(Math.sign(promptTokens - found));
    expect(found + unaccounted).toBeCloseTo(context.tokens);
  });

  it('leaves nothing unaccounted for where nothing was reported', () => {
    expect(inspection.unaccounted).toBe(0);
  });

  it('makes something of an empty conversation too', () => {
    const empty = inspectConversation(readConversation([], 'openai-chat'), { estimator });

    expect(empty).toMatchObject({ messages: 0, rounds: 0, byTool: [], largestRounds: [], repeatedReads: [] });
  });
});
