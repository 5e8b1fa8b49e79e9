import { describe, expect, it } from 'vitest';
import { createChains } from '../conversation/chain.ts';
import { sha256 } from '../conversation/sha256.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { cutsOf } from './cuts.ts';

const chains = createChains({ hash: sha256 });
const call = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }],
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'text' });
const user = { role: 'user', content: 'a question' };
const system = { role: 'system', content: 'rules' };

const cutsIn = (...raws: readonly unknown[]) => {
  const conversation = openaiChat.read(raws);
  return cutsOf(conversation, chains.chainOf(conversation));
};

describe('cuts', () => {
  it('count from behind the system messages in front', () => {
    const cuts = cutsIn(system, system, user, call('a'), result('a'), user);
    expect(cuts.all()).toEqual([1, 3, 4]);
    expect([1, 2, 3, 4].map((boundary) => cuts.has({ boundary }))).toEqual([true, false, true, true]);
  });

  it('are the same for whoever knows that everything before is whole', () => {
    const cuts = cutsIn(system, user, call('a'), result('a'), user, call('b'), result('b'));
    for (const boundary of [1, 3, 4, 6]) expect(cuts.has({ boundary, isWhole: true })).toBe(true);
    for (const boundary of [5, 7, 100]) expect(cuts.has({ boundary, isWhole: true })).toBe(false);
  });

  it('are looked for in the whole list where the rest alone does not tell', () => {
    // Its answer is still to come, and its id is that of nobody before it.
    const open = cutsIn(user, call('a'), result('a'), user, call('b'));
    expect(open.has({ boundary: 4, isWhole: true })).toBe(true);
    // This one has the id of one before it.
    const again = cutsIn(user, call('a'), result('a'), user, call('a'));
    expect(again.has({ boundary: 4, isWhole: true })).toBe(false);
    expect(again.all()).not.toContain(4);
  });

  it('are looked for in the whole list where a system message in front, which may have changed, has calls', () => {
    const use = { type: 'tool_use', id: 'a', name: 'read', input: {} };
    const conversation = anthropicMessages.read([
      { role: 'system', content: [use] },
      user,
      { role: 'assistant', content: [use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'text' }] },
    ]);
    const cuts = cutsOf(conversation, chains.chainOf(conversation));
    expect(cuts.all()).not.toContain(1);
    expect(cuts.has({ boundary: 1, isWhole: true })).toBe(false);
  });

  it('ask nobody about a beginning that is not known to be whole', () => {
    const cuts = cutsIn(user, call('a'), user, call('a'), result('a'));
    expect(cuts.has({ boundary: 3, isWhole: false })).toBe(false);
    expect(cuts.has({ boundary: 3 })).toBe(false);
  });
});
