import type { ErrorCode, RoundfoldError } from '../conversation/errors.ts';
import { isObject } from '../conversation/json.ts';

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
  /** As shells count it: 128 and the number of the signal. */
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** For help. */
export const EXIT_CODE_TEXT = `Exit codes: 0 done, 1 failed (a full disk, no usable summary, a store that
cannot be read or written, a Node.js that is too old) or violations found,
2 usage (also a file that cannot be opened for writing or that roundfold did not
write, a missing key), 3 input not understood, 4 budget not met, 5 upstream,
130 interrupted (Ctrl-C), 143 terminated.`;

const byError: Readonly<Record<ErrorCode, ExitCode>> = {
  'input-not-understood': exitCodes.inputNotUnderstood,
  usage: exitCodes.usage,
  'missing-dependency': exitCodes.failed,
  upstream: exitCodes.upstream,
  store: exitCodes.failed,
};

/** What the machine has run out of, or lost: the command line is right then. */
const MACHINE_FAULTS: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EMFILE',
  'ENFILE',
]);

export function exitCodeOf({ code, cause }: RoundfoldError): ExitCode {
  const isMachineFault = isObject(cause) && MACHINE_FAULTS.has(cause['code']);
  return isMachineFault ? exitCodes.failed : byError[code];
}

/** The code that tells most: input that was not understood before violations, violations before success. */
export function worstOf(codes: readonly ExitCode[]): ExitCode {
  return codes.toSorted((left, right) => right - left)[0] ?? exitCodes.done;
}
