/**
 * An agent on the Anthropic SDK that lives much longer than its window: one call of `maybeCompact` before each request.
 *
 * Run it with `npm run build && node examples/anthropic-loop.ts`. It starts a provider of its own and needs no key.
 */
import Anthropic from '@anthropic-ai/sdk';
import { createCompactor } from 'roundfold';
import { gauge, rehearse, TASK, WINDOW } from './support/rehearsal.ts';

const model = 'claude-opus-4-5';
const tools: Anthropic.Tool[] = [
  { name: gauge.name, description: gauge.description, input_schema: gauge.schema },
];

/** Runs the tools that the model has called. */
function runTools(content: readonly Anthropic.ContentBlock[]): Anthropic.ToolResultBlockParam[] {
  return content
    .filter((block) => block.type === 'tool_use')
    .map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: gauge.read((input as { number: number }).number), // the schema of the tool says so
    }));
}

await rehearse('anthropic-loop', async ({ url, onEvent }) => {
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  // One compactor for each conversation. The window of a real model is known by its name.
  const compactor = createCompactor({ model, windowTokens: WINDOW, onEvent });
  let messages: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }];

  for (;;) {
    // The very same list as long as there is room, a shorter one when there is not. Go on from it.
    ({ value: messages } = await compactor.maybeCompact(messages));

    const answer = await client.messages.create({
      model,
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools,
      messages,
    });
    messages = [...messages, { role: 'assistant', content: answer.content }];
    if (answer.stop_reason !== 'tool_use') return undefined;
    messages = [...messages, { role: 'user', content: runTools(answer.content) }];
  }
});
