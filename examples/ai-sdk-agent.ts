/**
 * An agent of the Vercel AI SDK that lives much longer than its window: `compactStep` is its `prepareStep`.
 *
 * Run it with `npm run build && node examples/ai-sdk-agent.ts`. It starts a provider of its own and needs no key.
 */
import { createAnthropic } from '@ai-sdk/anthropic';
import { jsonSchema, stepCountIs, ToolLoopAgent, tool } from 'ai';
import { compactStep } from 'roundfold/ai-sdk';
import { gauge, ROUNDS, rehearse, TASK, WINDOW } from './support/rehearsal.ts';

const model = 'claude-opus-4-5';

await rehearse('ai-sdk-agent', async ({ url, onEvent }) => {
  const provider = createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` });
  const agent = new ToolLoopAgent({
    model: provider(model),
    instructions: 'You watch over a harbour.',
    tools: {
      [gauge.name]: tool({
        description: gauge.description,
        inputSchema: jsonSchema<{ number: number }>(gauge.schema),
        execute: ({ number }) => gauge.read(number),
      }),
    },
    maxRetries: 0,
    // Without it the loop ends after twenty steps.
    stopWhen: stepCountIs(2 * ROUNDS),
    // The window of a real model is known by its name.
    prepareStep: compactStep({ model, windowTokens: WINDOW, onEvent }),
  });

  const { text, steps } = await agent.generate({ prompt: TASK });
  // All of the history is still there for the program; only what was sent was shorter.
  return `${steps.length} steps kept, the last of them: ${text}`;
});
