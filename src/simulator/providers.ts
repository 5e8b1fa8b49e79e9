import { createAnthropicMessages } from './anthropic-messages/provider.ts';
import { createOpenaiChat } from './openai-chat/provider.ts';
import { createOpenaiResponses } from './openai-responses/provider.ts';
import type { Provider, World } from './provider.ts';

export const anthropicMessagesPath = '/v1/messages';
export const openaiChatPath = '/v1/chat/completions';

/** Which path is answered by which provider. A new one is one line. */
export const makers: ReadonlyMap<string, (world: World) => Provider> = new Map([
  [anthropicMessagesPath, createAnthropicMessages],
  [openaiChatPath, createOpenaiChat],
  ['/v1/responses', createOpenaiResponses],
]);
