import { aiSdkContract } from './ai-sdk/contract.ts';
import { anthropicMessagesContract } from './anthropic-messages/contract.ts';
import type { Contract } from './contract.ts';
import { geminiContract } from './gemini/contract.ts';
import { openaiChatContract } from './openai-chat/contract.ts';
import { openaiResponsesContract } from './openai-responses/contract.ts';

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
