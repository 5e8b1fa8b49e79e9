import { aiSdkPrompts, readPrompt } from './ai-sdk.ts';
import { anthropicCaching } from './anthropic-messages/caching.ts';
import { anthropicCompaction } from './anthropic-messages/compaction.ts';
import { anthropicBetas, anthropicFrame } from './anthropic-messages/frame.ts';
import { anthropicImages } from './anthropic-messages/images.ts';
import { anthropicContent, anthropicRoles } from './anthropic-messages/messages.ts';
import { anthropicPairing } from './anthropic-messages/pairing.ts';
import { readAnthropicRequest } from './anthropic-messages/request.ts';
import { anthropicShape } from './anthropic-messages/shape.ts';
import { anthropicThinking } from './anthropic-messages/thinking.ts';
import { anthropicServerTools, anthropicTools } from './anthropic-messages/tools.ts';
import type { Contract } from './contract.ts';
import { readGeminiRequest } from './gemini/request.ts';
import { geminiShape } from './gemini/shape.ts';
import { geminiSignatures, geminiTurns } from './gemini/turns.ts';
import { chatLimits, chatSampling } from './openai-chat/limits.ts';
import { chatPairing, mistralOrder } from './openai-chat/pairing.ts';
import { readChatRequest } from './openai-chat/request.ts';
import { chatShape } from './openai-chat/shape.ts';
import { responsesPairing, responsesReasoning } from './openai-responses/pairing.ts';
import { readResponsesRequest } from './openai-responses/request.ts';
import { responsesIds, responsesServerState, responsesShape } from './openai-responses/shape.ts';
import { defineContract } from './rule.ts';

/** `POST /v1/messages`, judged by the provider's rules as far as a request tells by itself. */
export const anthropicMessagesContract: Contract = defineContract({
  format: 'anthropic-messages',
  listKeys: ['messages'],
  read: readAnthropicRequest,
  groups: [
    anthropicFrame,
    anthropicTools,
    anthropicShape,
    anthropicBetas,
    anthropicRoles,
    anthropicContent,
    anthropicPairing,
    anthropicServerTools,
    anthropicCompaction,
    anthropicThinking,
    anthropicCaching,
    anthropicImages,
  ],
});

/**
 * OpenAI `POST /v1/chat/completions` and the servers that speak it. `context.vendor` chooses the wording and
 * the rules of `deepseek`, `qwen` and `mistral`; the limits of OpenAI's own server are left out for every vendor
 * but `openai` and `azure`.
 */
export const openaiChatContract: Contract = defineContract({
  format: 'openai-chat',
  listKeys: ['messages'],
  read: readChatRequest,
  groups: [chatShape, chatLimits, chatPairing, chatSampling, mistralOrder],
});

/**
 * OpenAI `POST /v1/responses` and the servers that speak it. Rules about ids and reasoning items are OpenAI's own and
 * are left out for every vendor but `openai` and `azure`; `deepseek` is held to strict adjacency of calls and outputs.
 * `context.stored` and `context.seals` open the rules that need the server's memory.
 */
export const openaiResponsesContract: Contract = defineContract({
  format: 'openai-responses',
  listKeys: ['input'],
  read: readResponsesRequest,
  groups: [responsesShape, responsesIds, responsesServerState, responsesReasoning, responsesPairing],
});

/**
 * Gemini `generateContent`. The model usually stands in the address and not in the body: pass it as `context.model`,
 * or the signature rule of Gemini 3 stays silent. `context.vendor` is `vertex` for Vertex AI, which wants a role
 * on every content.
 */
export const geminiContract: Contract = defineContract({
  format: 'gemini',
  listKeys: ['contents'],
  read: readGeminiRequest,
  groups: [geminiShape, geminiTurns, geminiSignatures],
});

/**
 * What `generateText` and `streamText` of the Vercel AI SDK (version 7) refuse before they call a provider, for model
 * messages: the options of a call, or a bare list. The provider's own rules come on top of these.
 *
 * System messages are allowed where the body says so (`allowSystemInMessages`), and not judged when `context.scope` is
 * `messages`.
 */
export const aiSdkContract: Contract = defineContract({
  format: 'ai-sdk-model',
  listKeys: ['messages', 'prompt'],
  read: readPrompt,
  groups: [aiSdkPrompts],
});

/** Every wire format whose rules are known. A new one is one line. */
export const contracts: readonly Contract[] = [
  anthropicMessagesContract,
  openaiChatContract,
  openaiResponsesContract,
  geminiContract,
  aiSdkContract,
];

/** The rules of the wire format of that name, or undefined when none are known. */
export function findContract(format: string): Contract | undefined {
  return contracts.find((contract) => contract.format === format);
}
