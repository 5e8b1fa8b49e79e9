import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { resultText } from './proxied.ts';
import {
  OUTPUT_TOKENS,
  parameters,
  type SdkAgent,
  SYSTEM,
  TASK,
  THINKING_TOKENS,
  TOOL,
  type Work,
} from './sdk-agents.ts';

const tools = [
  { type: 'function' as const, function: { name: TOOL, description: 'Reads a file.', parameters } },
];

/** The messages of the library go back as it made them, put together from the chunks of a stream. */
async function workWithLangChain(model: BaseChatModel): Promise<Work> {
  const bound = model.bindTools?.(tools);
  if (bound === undefined) throw new TypeError('a chat model takes tools');
  const messages: BaseMessage[] = [new SystemMessage(SYSTEM), new HumanMessage(TASK)];
  let thoughts = 0;
  for (let requests = 1; ; requests++) {
    let answer: AIMessageChunk | undefined;
    for await (const chunk of await bound.stream(messages))
      answer = answer === undefined ? chunk : answer.concat(chunk);
    if (answer === undefined) throw new TypeError('an answer has chunks');
    messages.push(answer);
    if (answer.contentBlocks.some(({ type }) => type === 'reasoning')) thoughts++;
    const calls = answer.tool_calls ?? [];
    if (calls.length === 0) return { requests, thoughts };
    for (const { id = '' } of calls)
      messages.push(new ToolMessage({ tool_call_id: id, content: resultText(id) }));
  }
}

function openAi(url: string, fetch: typeof globalThis.fetch | undefined, fields: ChatOpenAIFields) {
  return new ChatOpenAI({
    apiKey: 'test',
    maxRetries: 0,
    maxTokens: OUTPUT_TOKENS,
    configuration: { baseURL: `${url}/v1`, ...(fetch === undefined ? {} : { fetch }) },
    ...fields,
  });
}

/** One row for each package of the library and wire format. */
export const langChainAgents: readonly SdkAgent[] = [
  {
    name: 'LangChain with Anthropic',
    thinks: true,
    work: (url, fetch) =>
      workWithLangChain(
        new ChatAnthropic({
          model: 'claude-sonnet-4-6',
          apiKey: 'test',
          maxRetries: 0,
          maxTokens: OUTPUT_TOKENS,
          thinking: { type: 'enabled', budget_tokens: THINKING_TOKENS },
          anthropicApiUrl: url,
          ...(fetch === undefined ? {} : { clientOptions: { fetch } }),
        }),
      ),
  },
  {
    name: 'LangChain with OpenAI, Chat Completions',
    thinks: false,
    work: (url, fetch) => workWithLangChain(openAi(url, fetch, { model: 'gpt-4.1' })),
  },
  {
    name: 'LangChain with OpenAI, Responses',
    thinks: true,
    work: (url, fetch) =>
      workWithLangChain(
        openAi(url, fetch, {
          model: 'gpt-5',
          useResponsesApi: true,
          zdrEnabled: true, // nothing is stored, so that reasoning comes along with every request
          reasoning: { effort: 'medium' },
        }),
      ),
  },
];
