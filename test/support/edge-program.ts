/** Uses the keeper and the middleware for the AI SDK as a program on the edge would: `test/integration/edge.test.ts` runs it. */

import { compactionMiddleware } from '../../src/integrations/ai-sdk.ts';
import { createKeeper } from '../../src/keeper/index.ts';
import { mapStore } from './map-store.ts';

const words = 'the parser reads one token after the other and gives back what it has not used yet '.repeat(
  20,
);
const bodyOf = (turns: number) => ({
  model: 'claude-sonnet-4-5',
  messages: Array.from({ length: 2 * turns + 1 }, (_one, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index}: ${words}`,
  })),
});

/** What the keeper makes of a long conversation. */
export async function keep(): Promise<string> {
  const store = mapStore({ now: () => Date.now(), fails: () => false });
  const keeper = createKeeper({ store, tenant: 'a', trigger: 10_000 });
  await keeper.prepare(bodyOf(40));
  await keeper.settle();
  const { status } = await keeper.prepare(bodyOf(41));
  await keeper.close();
  return status;
}

/** What the middleware leaves of a long prompt. */
export async function compact(): Promise<{ readonly before: number; readonly after: number }> {
  const prompt = bodyOf(40).messages.map(({ role, content }) => ({
    role,
    content: [{ type: 'text', text: content }],
  }));
  const { transformParams } = compactionMiddleware({ windowTokens: 20_000 });
  const params = await transformParams({ params: { prompt } });
  return { before: prompt.length, after: params.prompt.length };
}
