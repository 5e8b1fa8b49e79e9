import type { ErrorCode } from '../core/errors.ts';

/** What the process ends with. Part of the public interface. */
export const exitCodes = {
  done: 0,
  /** Something failed, or violations were found. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The input is no conversation we can read. */
  inputNotUnderstood: 3,
  budgetNotMet: 4,
  upstream: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byError: Readonly<Record<ErrorCode, ExitCode>> = {
  'input-not-understood': exitCodes.inputNotUnderstood,
  usage: exitCodes.usage,
  'missing-dependency': exitCodes.failed,
  upstream: exitCodes.upstream,
};

export function exitCodeOf(code: ErrorCode): ExitCode {
  return byError[code];
}

/** The code that tells most: input that was not understood before violations, violations before success. */
export function worstOf(codes: readonly ExitCode[]): ExitCode {
  return codes.toSorted((left, right) => right - left)[0] ?? exitCodes.done;
}
