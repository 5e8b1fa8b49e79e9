import { describe, expect, it } from 'vitest';
import { runCompactCommand } from '../support/compaction-under-test.ts';
import { currentTurnStart } from '../support/raw-messages.ts';
import { type PropertyName, pairFaults, refusals, sharedIds } from '../support/request-judge.ts';

/** A judge that never finds anything proves nothing: it is shown one of each fault. */
const asked = { role: 'user', content: 'Sound the berths.' };
const answer = { role: 'assistant', content: 'Which ones?' };
const question = { role: 'user', content: 'All of them.' };
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'sound', arguments: '{}' } }],
};
const result = { role: 'tool', tool_call_id: 'call_1', content: 'nine metres' };
const clearedResult = { role: 'tool', tool_call_id: 'call_1', content: '(cleared)' };
const summary = { role: 'user', content: 'Earlier, the berths were spoken of.' };
const chat = [asked, answer, question, call, result];

function faultsOf(after: readonly unknown[], before: readonly unknown[] = chat): readonly PropertyName[] {
  return pairFaults({ format: 'openai-chat', before, after, isOversized: false }).map(
    ({ property }) => property,
  );
}

describe('the judge of requests', () => {
  it('has nothing against a summary in front of the current turn', () => {
    expect(faultsOf([summary, call, result])).toEqual([]);
  });

  it('has nothing against an older result that was cleared', () => {
    const before = [asked, call, result, answer, question];

    expect(faultsOf([asked, call, clearedResult, answer, question], before)).toEqual([]);
  });

  it('sees a request that ends with something else than the current turn', () => {
    expect(faultsOf([asked, answer, summary])).toContain('current-turn');
    expect(faultsOf([summary, call, { ...result }])).toContain('current-turn');
  });

  it('lets a turn be shortened that is larger than the window, but not be left out', () => {
    const pair = { format: 'openai-chat', before: chat, isOversized: true };

    expect(pairFaults({ ...pair, after: [summary, call, clearedResult] })).toEqual([]);
    expect(pairFaults({ ...pair, after: [summary] })).toMatchObject([{ property: 'current-turn' }]);
  });

  it('sees messages that changed their order', () => {
    expect(faultsOf([answer, asked, question, call, result])).toContain('order');
  });

  it('sees a summary between messages that belong together', () => {
    expect(faultsOf([asked, answer, summary, call, result])).toEqual([]);
    expect(faultsOf([answer, summary, question, call, result])).toContain('made-in-front');
  });

  it('knows an older result that was shortened from a later one under the same id', () => {
    const before = [
      asked,
      call,
      result,
      answer,
      question,
      { ...call },
      { ...result },
      { ...answer },
      summary,
    ];
    const [, , , , , againCall, againResult, againAnswer] = before;
    const note = { role: 'user', content: 'Rounds are missing.' };

    expect(faultsOf([asked, call, clearedResult, note, againAnswer, summary], before)).toEqual([]);
    expect(
      faultsOf([asked, call, clearedResult, againCall, againResult, note, againAnswer, summary], before),
    ).toEqual(['made-in-front']);
  });

  it('sees neighbouring messages of the user where there were none', () => {
    expect(faultsOf([asked, summary, call, result])).toContain('alternation');
    expect(
      faultsOf([asked, question, summary, call, result], [asked, question, answer, summary, call, result]),
    ).toEqual([]);
  });

  it('sees a summary of the provider that left, or that something was put in front of', () => {
    const opaque = { type: 'compaction', encrypted_content: 'gAAA' };
    const before = [opaque, asked, answer, question];
    const faults = (after: readonly unknown[]) =>
      pairFaults({ format: 'openai-responses', before, after, isOversized: false });

    expect(faults([opaque, summary, question])).toEqual([]);
    expect(faults([summary, question])).toMatchObject([{ property: 'provider-summaries' }]);
    expect(faults([summary, opaque, question])).toContainEqual(
      expect.objectContaining({ property: 'provider-summaries' }),
    );
  });

  it('sees an illegal request, and ids that were given twice', async () => {
    expect(await refusals('openai-chat', [asked, result])).toMatchObject([
      expect.stringMatching(/^tool-result-without-call /),
    ]);
    const twice = [1, 2].map(() => ({ id: 'made-1', role: 'user', parts: [{ type: 'text', text: 'hm' }] }));
    expect(sharedIds('ai-sdk-ui', twice)).toHaveLength(1);
  });

  it('takes for the current turn what the model has not answered, with the calls whose results it has not read', () => {
    expect(currentTurnStart(chat)).toBe(3);
    expect(currentTurnStart([...chat, question])).toBe(3);
    expect(currentTurnStart([asked, answer, question])).toBe(2);
    expect(currentTurnStart([asked, answer])).toBe(1);
    expect(currentTurnStart([asked, question])).toBe(0);
  });
});

it('the command is heard as a user hears it: exit code, what it wrote and what it said', async () => {
  const settings = { format: 'openai-chat', strategy: 'none', budget: '100000' };

  expect(await runCompactCommand(chat, settings)).toMatchObject({ code: 0, value: chat });
  expect(await runCompactCommand('no list', settings)).toMatchObject({ code: 3, value: undefined });
});
