import type { WordedRule } from './worded-rule.ts';

const unsupported = (path: string, reason: string): string => `${path}: not supported ${reason}`;

/** Rules about the shape of the request and everything outside `messages`. */
export const frameRules = {
  noMessages: {
    id: 'no-messages',
    alias: 'A1',
    title: 'there is at least one message',
    fix: 'Send at least one user message.',
    evidence: 'inferred',
    wording: (): string => 'messages: at least one message is required',
  },
  missingField: {
    id: 'missing-field',
    alias: 'A2',
    title: 'required fields are there',
    fix: 'Add the missing field.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: Field required`,
  },
  unknownRole: {
    id: 'unknown-role',
    alias: 'A3',
    title: 'the role is one the API knows',
    fix: 'Use one of the roles the API knows.',
    evidence: 'reported',
    wording: (path: string, takesSystemMessages: boolean): string =>
      `${path}: Input should be ${takesSystemMessages ? "'user', 'assistant' or 'system'" : "'user' or 'assistant'"}`,
  },
  unknownField: {
    id: 'unknown-field',
    alias: 'A4',
    title: 'every field is one the API knows',
    fix: 'Remove the field, or send the beta header it belongs to.',
    evidence: 'documented',
    wording: (path: string): string => `${path}: Extra inputs are not permitted`,
  },
  unknownType: {
    id: 'unknown-type',
    alias: 'A5',
    title: 'the type is one the API knows',
    fix: 'Use one of the expected types, or send the beta header the type belongs to.',
    evidence: 'reported',
    wording: (path: string, tag: string, expected: readonly string[]): string =>
      `${path}: Input tag '${tag}' found using 'type' does not match any of the expected tags: ${quoted(expected)}`,
  },
  wrongKindOfValue: {
    id: 'wrong-kind-of-value',
    alias: 'A6',
    title: 'every field holds the kind of value the API expects',
    fix: 'Send a value of the expected kind.',
    evidence: 'reported',
    wording: (path: string, expected: string): string => `${path}: Input should be ${expected}`,
  },
  tooManyMessages: {
    id: 'too-many-messages',
    alias: 'A8',
    title: 'at most 100,000 messages',
    fix: 'Send fewer messages.',
    evidence: 'documented',
    wording: (path: string, count: number): string =>
      `${path}: List should have at most 100000 items after validation, not ${count}`,
  },
  missingToolDefinitions: {
    id: 'missing-tool-definitions',
    alias: 'A22',
    title: 'tool blocks need tool definitions',
    fix: 'Keep at least one tool definition while tool blocks remain in the messages.',
    evidence: 'reported',
    wording: (): string => 'Requests which include `tool_use` or `tool_result` blocks must define tools.',
  },
  duplicateToolName: {
    id: 'duplicate-tool-name',
    alias: 'A26',
    title: 'tool names are unique',
    fix: 'Give every tool its own name.',
    evidence: 'reported',
    wording: (): string => 'tools: Tool names must be unique.',
  },
  malformedToolName: {
    id: 'malformed-tool-name',
    alias: 'A27',
    title: 'tool names have a pattern',
    fix: 'Use 1 to 64 letters, digits, underscores or hyphens.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
  },
  toolChoiceWithoutTools: {
    id: 'tool-choice-without-tools',
    alias: 'A28',
    title: 'a tool choice needs tools',
    fix: 'Remove `tool_choice`, or send the tools with it.',
    evidence: 'reported',
    wording: (): string => 'tool_choice may only be specified while providing tools.',
  },
  forcedToolChoiceUnsupported: {
    id: 'forced-tool-choice-unsupported',
    alias: 'A29',
    title: 'a tool choice is forced only where the model takes that',
    fix: 'Use `tool_choice` of type `auto` or `none` with this model.',
    evidence: 'documented',
    wording: (): string => 'tool_choice: type "tool" and "any" are not supported for this model.',
  },
  allToolsDeferred: {
    id: 'all-tools-deferred',
    alias: 'A30',
    title: 'at least one tool is loaded at once',
    fix: 'Leave `defer_loading` off for at least one tool.',
    evidence: 'documented',
    wording: (): string => 'All tools have defer_loading: true',
  },
  openObjectInStrictSchema: {
    id: 'open-object-in-strict-schema',
    alias: 'A31',
    title: 'strict schemas have closed objects',
    fix: 'Set `additionalProperties: false` on every object of a strict schema.',
    evidence: 'reported',
    wording: (path: string): string =>
      `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
  },
  outputLimitTooHigh: {
    id: 'output-limit-too-high',
    alias: 'A34',
    title: 'the output limit is one the model has',
    fix: 'Lower `max_tokens`.',
    evidence: 'reported',
    wording: (path: string, wanted: number, limit: number, model: string): string =>
      `${path}: ${wanted} > ${limit}, which is the maximum allowed number of output tokens for ${model}`,
  },
  unsupportedParameter: {
    id: 'unsupported-parameter',
    alias: 'A36',
    title: 'the model or API version takes the parameter',
    fix: 'Remove the parameter.',
    evidence: 'documented',
    wording: unsupported,
  },
  unsupportedContent: {
    id: 'unsupported-content',
    alias: 'A36',
    title: 'the API version takes the content',
    fix: 'Remove the content.',
    evidence: 'documented',
    wording: unsupported,
  },
  thinkingModeUnsupported: {
    id: 'thinking-mode-unsupported',
    alias: 'A42',
    title: 'the thinking mode is one the model has',
    fix: 'Use a thinking type that the model supports.',
    evidence: 'documented',
    wording: (_path: string, mode: string): string => thinkingModeWordings.get(mode) ?? mode,
  },
  thinkingBudgetOutOfBounds: {
    id: 'thinking-budget-out-of-bounds',
    alias: 'A43',
    title: 'the thinking budget is within its bounds',
    fix: 'Use a budget of at least 1024 tokens and less than `max_tokens`.',
    evidence: 'documented',
    wording: (_path: string, fault: 'too small' | 'too large'): string =>
      fault === 'too small'
        ? 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
        : 'max_tokens must be greater than thinking.budget_tokens',
  },
  invalidCompactionRequest: {
    id: 'invalid-compaction-request',
    alias: 'A50',
    title: 'a compaction request goes together with nothing it excludes',
    fix: 'Remove the named field from the compaction request.',
    evidence: 'documented',
    wording: (path: string, reason: string): string => `${path}: ${reason}`,
  },
  invalidContextEdits: {
    id: 'invalid-context-edits',
    alias: 'A51',
    title: 'context edits are in order, and start late enough',
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
