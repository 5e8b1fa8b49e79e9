import { createAnthropicMessages } from './anthropic-messages/provider.ts';
import { createOpenaiChat } from './openai-chat/provider.ts';
import { createResponsesCompact } from './openai-responses/compact-provider.ts';
import { createOpenaiResponses } from './openai-responses/provider.ts';
import type { Provider, World } from './provider.ts';

export const anthropicMessagesPath = '/v1/messages';
export const openaiChatPath = '/v1/chat/completions';
export const openaiResponsesPath = '/v1/responses';

/** Which path is answered by which provider. A new one is one line. */
export const makers: ReadonlyMap<string, (world: World) => Provider> = new Map([
  [anthropicMessagesPath, createAnthropicMessages],
  [openaiChatPath, createOpenaiChat],
  [openaiResponsesPath, createOpenaiResponses],
  [`${openaiResponsesPath}/compact`, createResponsesCompact],
]);
