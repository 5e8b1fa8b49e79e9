import type { RuleRow } from '../finding.ts';

/** What the AI SDK itself refuses before anything is sent, with the texts of its errors. */
export const aiSdkRules = {
  toolCallWithoutResult: {
    id: 'tool-call-without-result',
    alias: 'V1',
    title:
      'every call of a client tool is answered before the next user or system message, and before the end',
    fix: 'Put a tool message with a tool-result for each of these calls behind them, or remove the calls.',
    evidence: 'server-source',
    wording: (ids: readonly string[]) =>
      ids.length > 1
        ? `Tool results are missing for tool calls ${ids.join(', ')}.`
        : `Tool result is missing for tool call ${ids.join()}.`,
  },
  noMessages: {
    id: 'no-messages',
    alias: 'V2',
    title: 'there is at least one message',
    fix: 'Give a list of messages with at least one message in it.',
    evidence: 'server-source',
    wording: {
      empty: () => 'Invalid prompt: messages must not be empty',
      // Version 6. Version 7 leaves this to its types and fails with a TypeError.
      missing: () => 'Invalid prompt: prompt or messages must be defined',
    },
  },
  systemMessageNotAllowed: {
    id: 'system-message-not-allowed',
    alias: 'V3',
    title: 'system messages stand in the instructions, not among the messages',
    fix: 'Move the text to the instructions, or set allowSystemInMessages if the messages are your own.',
    evidence: 'server-source',
    wording: () =>
      'Invalid prompt: System messages are not allowed in the prompt or messages fields. Use the instructions option instead.',
  },
  approvalWithoutCall: {
    id: 'approval-without-call',
    alias: 'V4',
    title: 'an approval at the end has its request, and the request its call',
    fix: 'Keep the assistant message with the call and the approval request together with the approval.',
    evidence: 'server-source',
    wording: {
      noRequest: (approvalId: string) =>
        `Tool approval response references unknown approvalId: "${approvalId}". No matching tool-approval-request found in message history.`,
      noCall: (toolCallId: string, approvalId: string) =>
        `Tool call "${toolCallId}" not found for approval request "${approvalId}".`,
    },
  },
} as const satisfies Readonly<Record<string, RuleRow & { readonly wording: unknown }>>;
