import { describe, expect, it } from 'vitest';
import { summaryMessageText } from '../conversation/summary-message.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { readCovered } from './covered.ts';
import type { FactKind } from './facts/facts.ts';
import { accountFor, demandTokens } from './survival.ts';

const user = (content: unknown) => ({ role: 'user', content });
const write = (path: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: path, name: 'Write', input: { file_path: path } }],
});
const todo = (content: string) => ({
  role: 'assistant',
  content: [
    { type: 'tool_use', id: 'todo', name: 'TodoWrite', input: { todos: [{ content, status: 'pending' }] } },
  ],
});

/** What a summary of the first list stands for, beside the second. */
function cover(gone: readonly unknown[], kept: readonly unknown[] = []) {
  const { messages } = anthropicMessages.read([...gone, ...kept]);
  return readCovered(messages, [{ start: 0, end: gone.length }]);
}

const accountOf = (summary: string, kind: FactKind, ...lists: Parameters<typeof cover>) =>
  accountFor(summary, cover(...lists)).find((each) => each.kind === kind);

describe('the account of a summary', () => {
  it.each([
    { what: 'tells a demand', summary: '[1] Never push.', kept: 1 },
    { what: 'tells a demand with other white space', summary: '[1] Never\n  push.', kept: 1 },
    { what: 'tells something else', summary: '[1] Push.', kept: 0 },
  ])('counts what the summary really says: it $what', ({ summary, kept }) => {
    expect(accountOf(summary, 'constraint', [user('Never push.')])).toEqual({
      kind: 'constraint',
      found: 1,
      kept,
      lost: 1 - kept,
      examples: kept === 1 ? [] : ['Never push.'],
    });
  });

  it('counts a demand as kept where the user says it in a message that stays', () => {
    const kept = [user('Once more: work slowly. Never push.')];
    expect(accountOf('done.', 'constraint', [user('Never push.')], kept)?.lost).toBe(0);
  });

  it('does not take the words of a tool for those of the user', () => {
    const shown = user([{ type: 'tool_result', tool_use_id: 'a', content: 'Never push.' }]);
    expect(accountOf('done.', 'constraint', [user('Never push.')], [shown])?.lost).toBe(1);
  });

  it('finds a changed file by the last two parts of its path', () => {
    expect(accountOf('edited src/a.ts', 'path', [write('/home/me/src/a.ts')])?.kept).toBe(1);
    expect(accountOf('edited b.ts', 'path', [write('/home/me/src/a.ts')])?.lost).toBe(1);
  });

  it('needs no older list of things to do where a newer one stays', () => {
    expect(accountOf('done.', 'open-work', [todo('write tests')], [todo('write docs')])).toBeUndefined();
    expect(accountOf('done.', 'open-work', [todo('write tests')])?.lost).toBe(1);
  });

  it('goes on to look after the demands that an earlier memory carried', () => {
    const earlier = summaryMessageText('Memory of 3 rounds.\n\n## What the user said\n[1] Never push.');
    expect(accountOf('done.', 'constraint', [user(earlier), user('Go on.')])?.examples).toEqual([
      'Never push.',
    ]);
  });

  it('does not ask for a demand that the user took back', () => {
    const earlier = summaryMessageText(
      'Memory of 3 rounds.\n\n## What the user said\n[1] (taken back in [2]: Never push.)\n[2] Forget that.',
    );
    expect(accountOf('done.', 'constraint', [user(earlier), user('Go on.')])).toBeUndefined();
  });

  it('takes nothing for a demand that somebody wrote elsewhere in a summary', () => {
    const earlier = summaryMessageText('Memory of 3 rounds.\n\n## What happened\n[1]\n- agent: Never push.');
    expect(accountOf('done.', 'constraint', [user(earlier), user('Go on.')])).toBeUndefined();
  });
});

describe('the room for demands', () => {
  it('is what those take that no kept message holds', () => {
    const count = (text: string) => text.length;
    expect(demandTokens(cover([user('Never push.')]), count)).toBe('\n[99] Never push.'.length);
    expect(demandTokens(cover([user('Never push.')], [user('Never push.')]), count)).toBe(0);
  });
});
