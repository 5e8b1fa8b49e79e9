/**
 * An agent on the OpenAI SDK, Responses, that lives much longer than its window. Nothing is stored at the provider: its
 * thoughts go back to it encrypted, and a compaction never tears one from what followed it.
 *
 * Run it with `npm run build && node examples/openai-responses-loop.ts`. It starts a provider of its own and needs no key.
 */
import OpenAI from 'openai';
import { createCompactor } from 'roundfold';
import { gauge, rehearse, TASK, WINDOW } from './support/rehearsal.ts';

type Item = OpenAI.Responses.ResponseInputItem;

const model = 'gpt-5';
const tools: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: gauge.name,
    description: gauge.description,
    parameters: gauge.schema,
    strict: false,
  },
];

/** Runs the tools that the model has called. */
function runTools(output: readonly OpenAI.Responses.ResponseOutputItem[]): Item[] {
  return output
    .filter((item) => item.type === 'function_call')
    .map((call) => {
      const { number } = JSON.parse(call.arguments) as { number: number };
      return { type: 'function_call_output', call_id: call.call_id, output: gauge.read(number) };
    });
}

await rehearse('openai-responses-loop', async ({ url, onEvent }) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  // One compactor for each conversation. The window of a real model is known by its name.
  const compactor = createCompactor({ model, windowTokens: WINDOW, onEvent });
  let input: Item[] = [{ role: 'user', content: TASK }];

  for (;;) {
    // The very same list as long as there is room, a shorter one when there is not. Go on from it.
    ({ value: input } = await compactor.maybeCompact(input));

    const { output } = await client.responses.create({
      model,
      input,
      tools,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    const results = runTools(output);
    if (results.length === 0) return undefined;
    input = [...input, ...(output as Item[]), ...results]; // every item may be sent back as it came
  }
});
