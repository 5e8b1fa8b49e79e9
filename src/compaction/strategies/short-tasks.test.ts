import { expect, test } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { readConversation } from '../../formats/registry.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

test('a short task stays where instructions and tools alone are more than the target', async () => {
  const task = { role: 'user', content: 'Look around, and never open the valve.' };
  const messages = Array.from({ length: 12 }, (_, index) => [
    { role: 'assistant', content: `Step ${index}: ${'the kiln is warm. '.repeat(20)}` },
    { role: 'user', content: `go on, ${index}` },
  ]).flat();
  const body = { system: 'Be exact. '.repeat(400), messages: [task, ...messages] };
  const conversation = readConversation(body, 'anthropic-messages');

  const outcome = await createStrategy('summarize').compact(
    conversation,
    strategyContext({ targetTokens: 500 }),
  );

  const change = changeOf(outcome);
  expect(change?.conversation.messages.length).toBeLessThan(messages.length);
  expect(change?.conversation.messages[0]?.raw).toBe(task);
});
