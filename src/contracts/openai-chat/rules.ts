import type { RuleRow } from '../finding.ts';
import { describeType } from '../json-value.ts';

/** What an unanswered call is reported with; servers differ in which of it they name. */
interface UnansweredCalls {
  readonly ids: readonly string[];
  /** Index of the message that stands where an answer should. */
  readonly index: number;
}

const vendorsOfUnanswered = new Map<string, (unanswered: UnansweredCalls) => string>([
  [
    'deepseek',
    () =>
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
  ],
  [
    'qwen',
    ({ index }) =>
      `<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[${index}].role`,
  ],
]);

const vendorsOfOrphan = new Map<string, string>([
  ['deepseek', "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"],
  [
    'qwen',
    '<400> InternalError.Algo.InvalidParameter: messages with role "tool" must be a response to a preceeding message with "tool_calls".',
  ],
]);

const emptyList = (path: string): string =>
  `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;

const longList = (path: string, length: number): string =>
  `Invalid '${path}': array too long. Expected an array with maximum length 128, but got an array with length ${length} instead.`;

const longText = (path: string, limit: number, length: number): string =>
  `Invalid '${path}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${length} instead.`;

/** The rules of `POST /v1/chat/completions`, with the server's own texts. */
export const chatRules = {
  wrongKindOfValue: {
    id: 'wrong-kind-of-value',
    alias: 'C0',
    title: 'every field holds the kind of value the schema names',
    fix: 'Give the field the kind of value the schema names.',
    evidence: 'reported',
    wording: (path: string, expected: string, value: unknown) =>
      `Invalid type for '${path}': expected ${expected}, but got ${describeType(value)} instead.`,
  },
  missingField: {
    id: 'missing-field',
    alias: 'C0',
    title: 'required fields are there',
    fix: 'Add the missing field.',
    evidence: 'reported',
    wording: {
      always: (path: string) => `Missing required parameter: '${path}'.`,
      ofRole: (role: string, field: string) =>
        `Missing parameter '${field}': messages with role '${role}' must have a '${field}'.`,
    },
  },
  unknownRole: {
    id: 'unknown-role',
    alias: 'C0',
    title: 'the role is one the API knows',
    fix: 'Use one of the roles the API knows.',
    evidence: 'reported',
    wording: (role: string) =>
      `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
  },
  toolCallWithoutResult: {
    id: 'tool-call-without-result',
    alias: 'C1',
    title: 'tool messages answer every call directly after the assistant message',
    fix: 'Put one tool message per call directly after the assistant message, or remove the call.',
    evidence: 'reported',
    wording: (unanswered: UnansweredCalls, vendor = '') =>
      vendorsOfUnanswered.get(vendor)?.(unanswered) ??
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${unanswered.ids.join(', ')}`,
  },
  toolResultWithoutCall: {
    id: 'tool-result-without-call',
    alias: 'C2',
    title: 'a tool message answers a call of the assistant message before it',
    fix: 'Restore the assistant message that made the call, or remove the tool message.',
    evidence: 'reported',
    wording: {
      noCalls: (vendor = '') =>
        vendorsOfOrphan.get(vendor) ??
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      otherCalls: (id: string, vendor = '') =>
        vendorsOfOrphan.get(vendor) ??
        `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
    },
  },
  noMessages: {
    id: 'no-messages',
    alias: 'C3',
    title: 'there is at least one message',
    fix: 'Send at least one message.',
    evidence: 'reported',
    wording: emptyList,
  },
  emptyToolCallList: {
    id: 'empty-tool-call-list',
    alias: 'C3',
    title: 'a list of calls is not empty',
    fix: 'Leave tool_calls out of a message that calls nothing.',
    evidence: 'reported',
    wording: emptyList,
  },
  tooManyTools: {
    id: 'too-many-tools',
    alias: 'C4',
    title: 'at most 128 tools',
    fix: 'Offer fewer tools.',
    evidence: 'reported',
    wording: longList,
  },
  tooManyToolCalls: {
    id: 'too-many-tool-calls',
    alias: 'C4',
    title: 'at most 128 calls in one message',
    fix: 'Leave whole rounds with so many calls out.',
    evidence: 'reported',
    wording: longList,
  },
  toolCallIdTooLong: {
    id: 'tool-call-id-too-long',
    alias: 'C5',
    title: 'call ids have at most 40 characters',
    fix: 'Map long call ids to shorter ones, in the call and in its answer.',
    evidence: 'reported',
    wording: longText,
  },
  textTooLong: {
    id: 'text-too-long',
    alias: 'C5',
    title: 'texts have at most 10,485,760 characters',
    fix: 'Shorten the text.',
    evidence: 'reported',
    wording: longText,
  },
  malformedToolName: {
    id: 'malformed-tool-name',
    alias: 'C6',
    title: 'tool names are 1 to 64 letters, digits, underscores and hyphens',
    fix: 'Rename the tool, in its definition and in every call.',
    evidence: 'reported',
    wording: {
      pattern: (path: string) =>
        `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      length: longText,
    },
  },
  missingContent: {
    id: 'missing-content',
    alias: 'C7',
    title: 'only an assistant message that calls a tool may have no content',
    fix: 'Give the message a content, if only an empty string.',
    evidence: 'reported',
    wording: () => "Invalid value for 'content': expected a string, got null.",
  },
  outputLimitTooHigh: {
    id: 'output-limit-too-high',
    alias: 'C8',
    title: 'the output limit is one the model has',
    fix: 'Lower the output limit to what the model supports.',
    evidence: 'reported',
    wording: (asked: number, supported: number) =>
      `max_tokens is too large: ${asked}. This model supports at most ${supported} completion tokens, whereas you provided ${asked}.`,
  },
  duplicateToolResult: {
    id: 'duplicate-tool-result',
    alias: 'C9',
    title: 'every call is answered once',
    fix: 'Keep one tool message per call and remove the others.',
    evidence: 'reported',
    wording: (id: string, first: number, second: number) =>
      `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${first}] and messages[${second}].`,
  },
  unsupportedParameter: {
    id: 'unsupported-parameter',
    alias: 'C10',
    title: 'reasoning models take max_completion_tokens and the default temperature',
    fix: 'Send max_completion_tokens instead of max_tokens and leave temperature out.',
    evidence: 'inferred',
    wording: {
      maxTokens: () =>
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      temperature: (value: number) =>
        `Unsupported value: 'temperature' does not support ${value} with this model. Only the default (1) value is supported.`,
    },
  },
  imageOutsideUserMessage: {
    id: 'image-outside-user-message',
    alias: 'C11',
    title: 'images stand in user messages only',
    fix: 'Move the image into a user message behind the tool messages, or replace it by a text.',
    evidence: 'reported',
    wording: (index: number, role: string) =>
      `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
  },
  roleOutOfOrder: {
    id: 'role-out-of-order',
    alias: 'mistral-3230',
    title: 'Mistral: roles follow in the order the validator knows',
    fix: 'Let an assistant message follow the tool messages, and a user message follow the system message.',
    evidence: 'server-source',
    wording: (role: string, previous: string) => `Unexpected role '${role}' after role '${previous}'`,
  },
  toolResultsMiscounted: {
    id: 'tool-results-miscounted',
    alias: 'mistral-3230',
    title: 'Mistral: there are as many tool messages as calls',
    fix: 'Put one tool message per call directly after the assistant message, or remove the calls.',
    evidence: 'server-source',
    wording: () => 'Not the same number of function calls and responses',
  },
  assistantMessageLast: {
    id: 'assistant-message-last',
    alias: 'mistral-3230',
    title: 'Mistral: a request ends with a user or tool message, or with a prefix',
    fix: 'End with a user or tool message, or set prefix on the final assistant message.',
    evidence: 'server-source',
    wording: (role: string) =>
      `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${role}`,
  },
  malformedToolCallId: {
    id: 'malformed-tool-call-id',
    alias: 'mistral-3280',
    title: 'Mistral: call ids are 9 letters and digits',
    fix: 'Map the call id to 9 letters and digits, in the call and in its answer.',
    evidence: 'server-source',
    wording: (id: string) => `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
  },
} as const satisfies Readonly<Record<string, RuleRow & { readonly wording: unknown }>>;
