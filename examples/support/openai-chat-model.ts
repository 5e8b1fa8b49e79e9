import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessage, type AIMessageFields, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import OpenAI from 'openai';
import { convertConversation, readConversation, writeConversation } from 'roundfold';

interface CallOptions extends BaseChatModelCallOptions {
  tools?: OpenAI.ChatCompletionTool[];
}

/** A chat model of LangChain on the OpenAI SDK. In a program of yours it is `ChatOpenAI` of `@langchain/openai`. */
export class OpenaiChatModel extends BaseChatModel<CallOptions> {
  readonly #client: OpenAI;
  readonly #model: string;

  constructor({ url, model }: { readonly url: string; readonly model: string }) {
    super({ maxRetries: 0 });
    this.#client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
    this.#model = model;
  }

  override _llmType(): string {
    return 'openai-chat';
  }

  override bindTools(tools: BindToolsInput[], options: Partial<CallOptions> = {}) {
    const written = tools.map((tool) => convertToOpenAITool(tool as never)); // its types know fewer tools than it does
    return this.withConfig({ ...options, tools: written as OpenAI.ChatCompletionTool[] });
  }

  override async _generate(given: BaseMessage[], { tools }: CallOptions): Promise<ChatResult> {
    const { conversation } = convertConversation(readConversation(given, 'langchain'), 'openai-chat');
    const messages = writeConversation(conversation) as OpenAI.ChatCompletionMessageParam[]; // as the target says
    const { choices, usage } = await this.#client.chat.completions.create({
      model: this.#model,
      messages,
      ...(tools === undefined ? {} : { tools }),
    });
    const { content = '', tool_calls: calls = [] } = choices[0]?.message ?? {};
    const fields = {
      content: content ?? '',
      tool_calls: calls
        .filter((call) => call.type === 'function')
        .map((call) => ({
          id: call.id,
          name: call.function.name,
          args: JSON.parse(call.function.arguments),
        })),
      usage_metadata: {
        input_tokens: usage?.prompt_tokens ?? 0,
        output_tokens: usage?.completion_tokens ?? 0,
        total_tokens: usage?.total_tokens ?? 0,
      },
    };
    const message = new AIMessage(fields as AIMessageFields); // its types and strict optional fields disagree
    return { generations: [{ message, text: content ?? '' }] };
  }
}
