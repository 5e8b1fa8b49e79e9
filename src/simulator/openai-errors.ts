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
  ['C3', 'empty_array'],
  ['C4', 'array_above_max_length'],
  ['C5', 'string_above_max_length'],
  ['C6', 'invalid_value'],
  ['C8', 'invalid_value'],
  ['R5', 'invalid_value'],
  ['R6', 'previous_response_not_found'],
  ['R7', 'invalid_encrypted_content'],
  ['R12', 'string_above_max_length'],
]);

/** Rules that are answered with another status than 400. */
const statuses = new Map<string, number>([['R8', 404]]);

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
