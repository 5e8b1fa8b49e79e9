import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { type Content, FunctionCallingConfigMode, GoogleGenAI, type Part } from '@google/genai';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { resultText } from './proxied.ts';

/** An agent on somebody's SDK: asks, runs the tools that the model calls, and goes on until it calls none. */
export interface SdkAgent {
  readonly name: string;
  /** Whether its requests have the model think, and its answers carry the thoughts. */
  readonly thinks: boolean;
  /** Works at an address, with a fetch of ours where one is given. */
  work(url: string, fetch?: typeof globalThis.fetch): Promise<Work>;
}

/** How often an agent asked, and in how many answers it saw thoughts. */
export interface Work {
  readonly requests: number;
  readonly thoughts: number;
}

/** What every agent is told to do, and the only tool it has. */
export const SYSTEM = 'You are a careful agent.';
export const TASK = 'Read all files and report.';
export const TOOL = 'read_file';
export const parameters = {
  type: 'object' as const,
  properties: { path: { type: 'string' as const } },
  required: ['path'],
};
export const OUTPUT_TOKENS = 2000;
export const THINKING_TOKENS = 1024;
/** Steps that no agent of a test takes. */
const TOO_MANY_STEPS = 10_000;

async function workWithAnthropic(client: Anthropic): Promise<Work> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }];
  let thoughts = 0;
  for (let requests = 1; ; requests++) {
    const stream = client.messages.stream({
      model: 'claude-sonnet-4-6',
      max_tokens: OUTPUT_TOKENS,
      thinking: { type: 'enabled', budget_tokens: THINKING_TOKENS },
      system: SYSTEM,
      tools: [{ name: TOOL, description: 'Reads a file.', input_schema: parameters }],
      messages,
    });
    const { content } = await stream.finalMessage();
    messages.push({ role: 'assistant', content });
    if (content.some(({ type }) => type === 'thinking')) thoughts++;
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return { requests, thoughts };
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: resultText(id) })),
    });
  }
}

async function workWithChat(client: OpenAI): Promise<Work> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: TASK },
  ];
  for (let requests = 1; ; requests++) {
    const stream = client.chat.completions.stream({
      model: 'gpt-4.1',
      max_completion_tokens: OUTPUT_TOKENS,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: TOOL, parameters } }],
      messages,
    });
    const [choice] = (await stream.finalChatCompletion()).choices;
    const message = choice!.message;
    messages.push(message);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return { requests, thoughts: 0 };
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: resultText(id) });
  }
}

async function workWithResponses(client: OpenAI): Promise<Work> {
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: TASK }];
  let thoughts = 0;
  for (let requests = 1; ; requests++) {
    const stream = client.responses.stream({
      model: 'gpt-5',
      max_output_tokens: OUTPUT_TOKENS,
      store: false,
      reasoning: { effort: 'medium' },
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', name: TOOL, parameters, strict: false }],
      input,
    });
    const { output } = await stream.finalResponse();
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
    if (output.some(({ type }) => type === 'reasoning')) thoughts++;
    const calls = output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return { requests, thoughts };
    for (const { call_id } of calls)
      input.push({ type: 'function_call_output', call_id, output: resultText(call_id) });
  }
}

async function workWithGoogle(client: GoogleGenAI, model: string): Promise<Work> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: TASK }] }];
  const declaration = { name: TOOL, description: 'Reads a file.', parametersJsonSchema: parameters };
  let thoughts = 0;
  for (let requests = 1; ; requests++) {
    const parts: Part[] = [];
    const stream = await client.models.generateContentStream({
      model,
      contents,
      config: {
        systemInstruction: SYSTEM,
        maxOutputTokens: OUTPUT_TOKENS,
        thinkingConfig: { includeThoughts: true },
        tools: [{ functionDeclarations: [declaration] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
      },
    });
    for await (const chunk of stream) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    contents.push({ role: 'model', parts });
    const isSigned = parts.some(({ thoughtSignature }) => thoughtSignature !== undefined);
    if (parts[0]?.thought === true && isSigned) thoughts++;
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return { requests, thoughts };
    const results = calls.map(({ id, name = '', args }) => ({
      functionResponse: {
        ...(id === undefined ? {} : { id }),
        name,
        response: { output: resultText(JSON.stringify(args)) },
      },
    }));
    contents.push({ role: 'user', parts: results });
  }
}

async function workWithAiSdk(provider: ReturnType<typeof createAnthropic>): Promise<Work> {
  const { steps } = streamText({
    model: provider('claude-sonnet-4-6'),
    system: SYSTEM,
    prompt: TASK,
    maxOutputTokens: OUTPUT_TOKENS,
    maxRetries: 0,
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS } } },
    stopWhen: stepCountIs(TOO_MANY_STEPS),
    tools: {
      [TOOL]: tool({
        description: 'Reads a file.',
        inputSchema: jsonSchema<{ path: string }>(parameters),
        execute: ({ path }) => resultText(path),
      }),
    },
  });
  const taken = await steps;
  return { requests: taken.length, thoughts: taken.filter(({ reasoning }) => reasoning.length > 0).length };
}

/** What SDKs of OpenAI and Anthropic have in common. A request that fails is not tried again behind our back. */
const client = (fetch?: typeof globalThis.fetch) => ({
  apiKey: 'test',
  maxRetries: 0,
  ...(fetch === undefined ? {} : { fetch }),
});

/** One row for each SDK and wire format. */
export const sdkAgents: readonly SdkAgent[] = [
  {
    name: 'the Anthropic SDK',
    thinks: true,
    work: (url, fetch) => workWithAnthropic(new Anthropic({ baseURL: url, ...client(fetch) })),
  },
  {
    name: 'the OpenAI SDK, Chat Completions',
    thinks: false,
    work: (url, fetch) => workWithChat(new OpenAI({ baseURL: `${url}/v1`, ...client(fetch) })),
  },
  {
    name: 'the OpenAI SDK, Responses',
    thinks: true,
    work: (url, fetch) => workWithResponses(new OpenAI({ baseURL: `${url}/v1`, ...client(fetch) })),
  },
  {
    name: 'the AI SDK',
    thinks: true,
    work: (url, fetch) => workWithAiSdk(createAnthropic({ baseURL: `${url}/v1`, ...client(fetch) })),
  },
  ...['gemini-2.5-pro', 'gemini-3.1-pro'].map(
    (model): SdkAgent => ({
      name: `the Google SDK, ${model}`,
      thinks: true,
      work: (url, fetch) =>
        workWithGoogle(
          new GoogleGenAI({
            apiKey: 'test',
            httpOptions: { baseUrl: url, ...(fetch === undefined ? {} : { fetch }) },
          }),
          model,
        ),
    }),
  ),
];
