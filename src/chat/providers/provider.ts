import type { JsonObject } from '../../conversation/json.ts';
import type { ToolCallBlock, Usage } from '../../conversation/message.ts';
import { chatTools, schemaOf, type ToolAnswer } from '../tools.ts';

/** Names that `--provider` takes; apart from the providers, so that help need not load them. */
export const providerNames = ['offline', 'anthropic', 'openai'] as const;

export type ProviderName = (typeof providerNames)[number];

/** How the messages of a chat become a request of one wire format. */
export interface Wire {
  /** Name of the wire format. */
  readonly format: string;
  /** The request without its messages. */
  frame(model: string, instructions: string): JsonObject;
  /** Messages that come before the first of the conversation. */
  opening(instructions: string): readonly unknown[];
  userMessage(text: string): unknown;
  assistantMessage(text: string): unknown;
  results(answers: readonly (readonly [ToolCallBlock, ToolAnswer])[]): readonly unknown[];
}

const MAXIMUM_OUTPUT_TOKENS = 4096;

/** Anthropic Messages. */
export const anthropicWire: Wire = {
  format: 'anthropic-messages',
  frame: (model, instructions) => ({
    model,
    max_tokens: MAXIMUM_OUTPUT_TOKENS,
    system: instructions,
    tools: chatTools.map((tool) => ({
      name: tool.name,
      description: tool.summary,
      input_schema: schemaOf(tool),
    })),
  }),
  opening: () => [],
  userMessage: (text) => ({ role: 'user', content: text }),
  assistantMessage: (text) => ({ role: 'assistant', content: [{ type: 'text', text }] }),
  results: (answers) => [
    {
      role: 'user',
      content: answers.map(([call, { text, isError }]) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: text,
        ...(isError ? { is_error: true } : {}),
      })),
    },
  ],
};

/** OpenAI Chat Completions, and everybody who speaks like it. */
export const openaiWire: Wire = {
  format: 'openai-chat',
  frame: (model) => ({
    model,
    tools: chatTools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.summary, parameters: schemaOf(tool) },
    })),
  }),
  opening: (instructions) => [{ role: 'system', content: instructions }],
  userMessage: (text) => ({ role: 'user', content: text }),
  assistantMessage: (text) => ({ role: 'assistant', content: text }),
  results: (answers) =>
    answers.map(([call, { text, isError }]) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: isError ? `error: ${text}` : text,
    })),
};

/** What a provider answers with. */
export interface Answer {
  /** The assistant's message, as it goes into the list. */
  readonly message: unknown;
  readonly usage: Usage | undefined;
}

export interface AskOptions {
  /** Text as it comes. */
  onText(piece: string): void;
  readonly signal: AbortSignal;
}

/** What answers in a chat: an API, or the offline stand-in. */
export interface ChatProvider {
  readonly name: string;
  readonly wire: Wire;
  /**
   * @throws RoundfoldError `upstream` when the provider cannot be reached or refuses; the signal's reason when it was aborted
   */
  ask(body: JsonObject, options: AskOptions): Promise<Answer>;
}
