import type { WordedRule } from './worded-rule.ts';

/** Rules about the shape of the request and everything outside `messages`. */
export const frameRules = {
  A1: {
    id: 'A1',
    title: 'at least one message',
    fix: 'Send at least one user message.',
    evidence: 'inferred',
    wording: (): string => 'messages: at least one message is required',
  },
  A2: {
    id: 'A2',
    title: 'required field',
    fix: 'Add the missing field.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: Field required`,
  },
  A3: {
    id: 'A3',
    title: 'known role',
    fix: 'Use one of the roles the API knows.',
    evidence: 'reported',
    wording: (path: string, takesSystemMessages: boolean): string =>
      `${path}: Input should be ${takesSystemMessages ? "'user', 'assistant' or 'system'" : "'user' or 'assistant'"}`,
  },
  A4: {
    id: 'A4',
    title: 'no field the API does not know',
    fix: 'Remove the field, or send the beta header it belongs to.',
    evidence: 'documented',
    wording: (path: string): string => `${path}: Extra inputs are not permitted`,
  },
  A5: {
    id: 'A5',
    title: 'known variant',
    fix: 'Use one of the expected types, or send the beta header the type belongs to.',
    evidence: 'reported',
    wording: (path: string, tag: string, expected: readonly string[]): string =>
      `${path}: Input tag '${tag}' found using 'type' does not match any of the expected tags: ${quoted(expected)}`,
  },
  A6: {
    id: 'A6',
    title: 'right kind of value',
    fix: 'Send a value of the expected kind.',
    evidence: 'reported',
    wording: (path: string, expected: string): string => `${path}: Input should be ${expected}`,
  },
  A8: {
    id: 'A8',
    title: 'at most 100,000 messages',
    fix: 'Send fewer messages.',
    evidence: 'documented',
    wording: (path: string, count: number): string =>
      `${path}: List should have at most 100000 items after validation, not ${count}`,
  },
  A22: {
    id: 'A22',
    title: 'tool blocks need tool definitions',
    fix: 'Keep at least one tool definition while tool blocks remain in the messages.',
    evidence: 'reported',
    wording: (): string => 'Requests which include `tool_use` or `tool_result` blocks must define tools.',
  },
  A26: {
    id: 'A26',
    title: 'tool names are unique',
    fix: 'Give every tool its own name.',
    evidence: 'reported',
    wording: (): string => 'tools: Tool names must be unique.',
  },
  A27: {
    id: 'A27',
    title: 'tool names have a pattern',
    fix: 'Use 1 to 64 letters, digits, underscores or hyphens.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
  },
  A28: {
    id: 'A28',
    title: 'tool_choice needs tools',
    fix: 'Remove `tool_choice`, or send the tools with it.',
    evidence: 'reported',
    wording: (): string => 'tool_choice may only be specified while providing tools.',
  },
  A29: {
    id: 'A29',
    title: 'the model takes no forced tool choice',
    fix: 'Use `tool_choice` of type `auto` or `none` with this model.',
    evidence: 'documented',
    wording: (): string => 'tool_choice: type "tool" and "any" are not supported for this model.',
  },
  A30: {
    id: 'A30',
    title: 'at least one tool is loaded at once',
    fix: 'Leave `defer_loading` off for at least one tool.',
    evidence: 'documented',
    wording: (): string => 'All tools have defer_loading: true',
  },
  A31: {
    id: 'A31',
    title: 'strict schemas have closed objects',
    fix: 'Set `additionalProperties: false` on every object of a strict schema.',
    evidence: 'reported',
    wording: (path: string): string =>
      `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
  },
  A34: {
    id: 'A34',
    title: 'max_tokens within the model',
    fix: 'Lower `max_tokens`.',
    evidence: 'reported',
    wording: (path: string, wanted: number, limit: number, model: string): string =>
      `${path}: ${wanted} > ${limit}, which is the maximum allowed number of output tokens for ${model}`,
  },
  A36: {
    id: 'A36',
    title: 'not accepted by this model or API version',
    fix: 'Remove the field.',
    evidence: 'documented',
    wording: (path: string, reason: string): string => `${path}: not supported ${reason}`,
  },
  A42: {
    id: 'A42',
    title: 'thinking mode the model has',
    fix: 'Use a thinking type that the model supports.',
    evidence: 'documented',
    wording: (_path: string, mode: string): string => thinkingModeWordings.get(mode) ?? mode,
  },
  A43: {
    id: 'A43',
    title: 'thinking budget within bounds',
    fix: 'Use a budget of at least 1024 tokens and less than `max_tokens`.',
    evidence: 'documented',
    wording: (_path: string, fault: 'too small' | 'too large'): string =>
      fault === 'too small'
        ? 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
        : 'max_tokens must be greater than thinking.budget_tokens',
  },
  A50: {
    id: 'A50',
    title: 'what an on-demand compaction goes together with',
    fix: 'Remove the named field from the compaction request.',
    evidence: 'documented',
    wording: (path: string, reason: string): string => `${path}: ${reason}`,
  },
  A51: {
    id: 'A51',
    title: 'context edits are in order',
    fix: 'Correct the edits of `context_management`.',
    evidence: 'documented',
    wording: (path: string, reason: string): string => `${path}: ${reason}`,
  },
} as const satisfies Readonly<Record<string, WordedRule<never[]>>>;

const thinkingModeWordings: ReadonlyMap<string, string> = new Map([
  [
    'enabled',
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  ],
  ['adaptive', 'adaptive thinking is not supported on this model'],
  ['disabled', '"thinking.type.disabled" is not supported for this model.'],
]);

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
