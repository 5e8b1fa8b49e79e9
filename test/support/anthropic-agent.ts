import { resultText } from './proxied.ts';

export type Json = Readonly<Record<string, unknown>>;

const tools = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
];

/** An agent that speaks Anthropic Messages by hand, so that every byte of it is known. */
export interface Agent {
  readonly messages: Json[];
  /** One request with all of the history; the tools it asks for are run. */
  step(options?: StepOptions): Promise<Response>;
  /** So many requests. */
  work(steps: number, options?: StepOptions): Promise<void>;
}

export interface StepOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of the body. */
  readonly fields?: Json;
  /** Characters of each result. */
  readonly characters?: number;
}

export function createAgent(url: string, begin: readonly Json[], key = 'test-key'): Agent {
  const messages = [...begin];
  const step = async ({ headers = {}, fields = {}, characters }: StepOptions = {}) => {
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 1000, tools, messages, ...fields }),
    });
    const answer = (await response.clone().json()) as { content?: readonly Json[] };
    if (!response.ok || answer.content === undefined) return response;
    messages.push({ role: 'assistant', content: answer.content });
    const calls = answer.content.filter(({ type }) => type === 'tool_use');
    messages.push({
      role: 'user',
      content:
        calls.length === 0
          ? 'Go on.'
          : calls.map(({ id }) => ({
              type: 'tool_result',
              tool_use_id: id,
              content: resultText(String(id), characters),
            })),
    });
    return response;
  };
  return {
    messages,
    step,
    async work(steps, options) {
      for (let count = 0; count < steps; count++) {
        const response = await step(options);
        if (!response.ok) throw new Error(`step ${count + 1}: ${response.status} ${await response.text()}`);
      }
    },
  };
}
