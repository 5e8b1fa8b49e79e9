/**
 * An agent of LangChain that lives much longer than its window: `compactionMiddleware` keeps the messages of its state
 * short, in the way its reducer wants it.
 *
 * Run it with `npm run build && node examples/langchain-agent.ts`. It starts a provider of its own and needs no key.
 */
import { createAgent, tool } from 'langchain';
import { compactionMiddleware } from 'roundfold/langchain';
import { OpenaiChatModel } from './support/openai-chat-model.ts';
import { gauge, ROUNDS, rehearse, TASK, WINDOW } from './support/rehearsal.ts';

const model = 'gpt-4o';

const readGauge = tool(({ number }: { number: number }) => gauge.read(number), {
  name: gauge.name,
  description: gauge.description,
  schema: gauge.schema,
});

await rehearse('langchain-agent', async ({ url, onEvent }) => {
  const agent = createAgent({
    model: new OpenaiChatModel({ url, model }),
    tools: [readGauge],
    systemPrompt: 'You watch over a harbour.',
    // The window of a real model is known by its name.
    middleware: [compactionMiddleware({ model, windowTokens: WINDOW, onEvent })],
  });

  // Three nodes a round: the middleware, the model, the tools.
  const { messages } = await agent.invoke({ messages: [TASK] }, { recursionLimit: 4 * ROUNDS });
  return `${messages.length} messages in the state, the last of them: ${messages.at(-1)?.text}`;
});
