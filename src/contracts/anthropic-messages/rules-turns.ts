import type { WordedRule } from './worded-rule.ts';

const unanswered = (path: string, ids: readonly string[]): string =>
  `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

const unresolved = (_path: string, call: UnresolvedCall): string =>
  `\`${call.name}\` tool use with id \`${call.id}\` was found without a corresponding \`${call.resultType}\` block${
    call.isToolMissing ? ` but no \`${call.name}\` tool was provided` : ''
  }`;

/** A call of a server tool whose result is missing. */
export interface UnresolvedCall {
  readonly id: string;
  readonly name: string;
  readonly resultType: string;
  /** The request does not offer the tool any more. */
  readonly isToolMissing: boolean;
}

/** Rules about the order of messages: roles, turns, tool pairing. */
export const turnRules = {
  firstMessageNotUser: {
    id: 'first-message-not-user',
    alias: 'A9',
    title: 'the first message is the user’s',
    fix: 'Start with a user message, or with a message that begins with a compaction block.',
    evidence: 'reported',
    wording: (): string => 'messages: first message must use the "user" role',
  },
  emptyContent: {
    id: 'empty-content',
    alias: 'A11',
    title: 'content is not empty',
    fix: 'Remove the message or give it content.',
    evidence: 'reported',
    wording: (path: string): string =>
      `${path}: all messages must have non-empty content except for the optional final assistant message`,
  },
  prefillEndsInWhitespace: {
    id: 'prefill-ends-in-whitespace',
    alias: 'A14',
    title: 'a prefill does not end in whitespace',
    fix: 'Trim the end of the final assistant text.',
    evidence: 'reported',
    wording: (): string => 'messages: final assistant content cannot end with trailing whitespace',
  },
  prefillUnsupported: {
    id: 'prefill-unsupported',
    alias: 'A15',
    title: 'a list ends with an assistant message only where the model takes a prefill',
    fix: 'End with a user message.',
    evidence: 'documented',
    wording: (): string =>
      'This model does not support assistant message prefill. The conversation must end with a user message.',
  },
  toolCallWithoutResult: {
    id: 'tool-call-without-result',
    alias: 'A16',
    title: 'every tool call is answered at once',
    fix: 'Answer every call in the very next message, results first, or drop call and result together.',
    evidence: 'documented',
    wording: unanswered,
  },
  toolCallsSplitOverMessages: {
    id: 'tool-calls-split-over-messages',
    alias: 'A16w',
    title: 'calls of one round in one message',
    fix: 'Put all calls of one response into one assistant message.',
    evidence: 'reported',
    severity: 'warning',
    wording: (path: string): string =>
      `${path}: the calls of one round are split over adjacent assistant messages; this was accepted, but pairing is documented message by message`,
  },
  toolResultWithoutCall: {
    id: 'tool-result-without-call',
    alias: 'A17',
    title: 'every tool result follows its call',
    fix: 'Drop the result, or keep the assistant message with its call directly before it.',
    evidence: 'reported',
    wording: (path: string, id: string): string =>
      `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
  },
  messageBetweenCallAndResult: {
    id: 'message-between-call-and-result',
    alias: 'A18',
    title: 'no assistant message between call and result',
    fix: 'Move the assistant message away from between the call and its result.',
    evidence: 'reported',
    wording: unanswered,
  },
  duplicateToolResult: {
    id: 'duplicate-tool-result',
    alias: 'A19',
    title: 'one result per call',
    fix: 'Keep one result for each call.',
    evidence: 'reported',
    wording: (path: string, id: string): string =>
      `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
  },
  duplicateToolCallId: {
    id: 'duplicate-tool-call-id',
    alias: 'A20',
    title: 'call ids are unique',
    fix: 'Give every call its own id.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: \`tool_use\` ids must be unique`,
  },
  blockInWrongRole: {
    id: 'block-in-wrong-role',
    alias: 'A21',
    title: 'blocks stand in their role',
    fix: 'Move the block into a message of the right role.',
    evidence: 'reported',
    wording: (path: string, type: string, role: string): string =>
      `${path}: \`${type}\` blocks can only be in \`${role}\` messages`,
  },
  serverToolCallWithoutResult: {
    id: 'server-tool-call-without-result',
    alias: 'A23',
    title: 'every server tool call is resolved',
    fix: 'Keep the server tool’s result, or drop the call with it.',
    evidence: 'documented',
    wording: unresolved,
  },
  serverToolResultWithoutCall: {
    id: 'server-tool-result-without-call',
    alias: 'A24',
    title: 'every server tool result follows its call',
    fix: 'Keep the server tool’s call before its result, or drop both.',
    evidence: 'reported',
    wording: (path: string, type: string, id: string, callType: string): string =>
      `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${id}. Each \`${type}\` block must have a corresponding \`${callType}\` block before it.`,
  },
  serverToolTurnInterrupted: {
    id: 'server-tool-turn-interrupted',
    alias: 'A25',
    title: 'a turn that waits for a server tool is resumed with results only',
    fix: 'Send only the tool results while a server tool call is unresolved.',
    evidence: 'documented',
    wording: unresolved,
  },
  systemMessageFirst: {
    id: 'system-message-first',
    alias: 'A44',
    title: 'a system message is not first',
    fix: 'Use the top-level `system` parameter for the initial system prompt.',
    evidence: 'reported',
    wording: (path: string): string =>
      `${path}: use the top-level 'system' parameter for the initial system prompt`,
  },
  systemMessageUnsupported: {
    id: 'system-message-unsupported',
    alias: 'A45',
    title: 'system messages stand among the messages only where the model takes them',
    fix: 'Use the top-level `system` parameter.',
    evidence: 'reported',
    wording: (): string =>
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  },
  systemMessageMisplaced: {
    id: 'system-message-misplaced',
    alias: 'A46',
    title: 'a system message follows a user message, and is last or before an assistant message',
    fix: 'Put it directly after a user message, and last or before an assistant message.',
    evidence: 'documented',
    wording: (path: string): string =>
      `${path}: a \`system\` message must directly follow a user message or a server tool result, and be last or be followed by an assistant message`,
  },
} as const satisfies Readonly<Record<string, WordedRule<never[]>>>;
