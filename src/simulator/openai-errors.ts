import type { Violation } from '../contracts/contract.ts';
import type { Problem } from './problem.ts';
import type { Call } from './provider.ts';

/** Types and codes of OpenAI's errors where the problem names none. */
const defaults = new Map<number, { readonly type: string; readonly code: string | null }>([
  [429, { type: 'requests', code: 'rate_limit_exceeded' }],
  [500, { type: 'server_error', code: null }],
  [529, { type: 'server_error', code: 'server_is_overloaded' }],
]);

/** `error` of an OpenAI error body. */
export function openaiError({ status, message, type, code, param }: Problem): object {
  const usual = defaults.get(status) ?? { type: 'invalid_request_error', code: null };
  return { message, type: type ?? usual.type, param: param ?? null, code: code ?? usual.code };
}

/** Codes that the API gives with some of its rules. */
const codes = new Map<string, string>([
  ['no-messages', 'empty_array'],
  ['empty-tool-call-list', 'empty_array'],
  ['too-many-tools', 'array_above_max_length'],
  ['too-many-tool-calls', 'array_above_max_length'],
  ['tool-call-id-too-long', 'string_above_max_length'],
  ['text-too-long', 'string_above_max_length'],
  ['malformed-tool-name', 'invalid_value'],
  ['output-limit-too-high', 'invalid_value'],
  ['malformed-item-id', 'invalid_value'],
  ['previous-response-not-found', 'previous_response_not_found'],
  ['encrypted-content-invalid', 'invalid_encrypted_content'],
]);

/** Rules that are answered with another status than 400. */
const statuses = new Map<string, number>([['stored-item-not-found', 404]]);

/** The refusal that a broken rule is answered with; undefined when there is none that counts. */
export function openaiRefusal(violations: readonly Violation[]): Problem | undefined {
  const violation = violations.find(({ severity }) => severity === 'error');
  if (violation === undefined) return undefined;
  const { rule, message, path } = violation;
  return { status: statuses.get(rule) ?? 400, message, rule, code: codes.get(rule), param: path };
}

/** What both endpoints of OpenAI share. */
export const openaiEndpoint = {
  requestIdHeader: 'x-request-id',
  missingKey: {
    status: 401,
    message:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  },
  tooLargeBody: { status: 413, message: 'Request body is too large.' },
  hasKey: (headers: Call['headers']): boolean => /^bearer \S/i.test(headers['authorization'] ?? ''),
  errorBody: (problem: Problem): unknown => ({ error: openaiError(problem) }),
} as const;
