/**
 * An agent on the OpenAI SDK, Chat Completions, that lives much longer than its window: one call of `maybeCompact` before
 * each request.
 *
 * Run it with `npm run build && node examples/openai-chat-loop.ts`. It starts a provider of its own and needs no key.
 */
import OpenAI from 'openai';
import { createCompactor } from 'roundfold';
import { gauge, rehearse, TASK, WINDOW } from './support/rehearsal.ts';

const model = 'gpt-4o';
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: { name: gauge.name, description: gauge.description, parameters: gauge.schema },
  },
];

/** Runs the tools that the model has called. */
function runTools(
  calls: readonly OpenAI.ChatCompletionMessageToolCall[],
): OpenAI.ChatCompletionToolMessageParam[] {
  return calls
    .filter((call) => call.type === 'function')
    .map((call) => {
      const { number } = JSON.parse(call.function.arguments) as { number: number };
      return { role: 'tool', tool_call_id: call.id, content: gauge.read(number) };
    });
}

await rehearse('openai-chat-loop', async ({ url, onEvent }) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  // One compactor for each conversation. The window of a real model is known by its name.
  const compactor = createCompactor({ model, windowTokens: WINDOW, onEvent });
  let messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You watch over a harbour.' },
    { role: 'user', content: TASK },
  ];

  for (;;) {
    // The very same list as long as there is room, a shorter one when there is not. Go on from it.
    ({ value: messages } = await compactor.maybeCompact(messages));

    const answer = await client.chat.completions.create({ model, tools, messages });
    const message = answer.choices[0]?.message;
    if (message?.tool_calls === undefined) return undefined;
    messages = [...messages, message, ...runTools(message.tool_calls)];
  }
});
