import { expect, test } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { readConversation } from '../../formats/registry.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

const read = (id: string, path: string) => ({
  type: 'tool_use',
  id,
  name: 'Read',
  input: { file_path: path },
});
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content });
const long = (name: string) => `${name}: the tide is at 312.4 cm. `.repeat(200);

test('what two rungs rewrite is kept as it was before the first of them', async () => {
  // One message holds a read that is read again later, and another result that is merely old.
  const messages = [
    { role: 'user', content: 'Look at both files.' },
    { role: 'assistant', content: [read('a', '/app/a.ts'), read('b', '/app/b.ts')] },
    { role: 'user', content: [result('a', long('a')), result('b', long('b'))] },
    { role: 'assistant', content: [read('c', '/app/a.ts')] },
    { role: 'user', content: [result('c', long('a'))] },
    { role: 'assistant', content: [{ type: 'text', text: 'Both are fine.' }] },
    { role: 'user', content: 'Go on.' },
  ];
  const conversation = readConversation(messages, 'anthropic-messages');
  const originals = new Set(conversation.messages.map(({ raw }) => raw));
  const named: unknown[] = [];
  const outcome = await createStrategy('ladder').compact(
    conversation,
    strategyContext({
      targetTokens: 2500,
      handleFor: (asked) => {
        named.push(...asked.map(({ raw }) => raw));
        return 'rf:0123456789abcdef0123456789abcdef';
      },
    }),
  );

  expect(changeOf(outcome)?.receipt.strategy).toBe('ladder');
  expect(outcome).toMatchObject({ reason: 'collapse-reads, clear-tool-results' });
  expect(named.filter((raw) => raw === messages[2])).toHaveLength(2);
  expect(named.filter((raw) => !originals.has(raw))).toEqual([]);
});
