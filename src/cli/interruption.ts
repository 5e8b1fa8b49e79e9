import { type ExitCode, exitCodes } from './exit-codes.ts';

const codes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/** What came of a piece of work that the user may stop. */
export interface Interruptible<Value> {
  readonly value: Value;
  /** What to end with, when it was stopped. */
  readonly stoppedWith: ExitCode | undefined;
}

/**
 * Does work that Ctrl-C and SIGTERM abort through a signal instead of ending the process, so that nothing is left half
 * done. A second one ends the process at once.
 */
export async function untilInterrupted<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Interruptible<Value>> {
  const stop = new AbortController();
  let stoppedWith: ExitCode | undefined;
  const listeners = Object.entries(codes).map(([name, code]) => {
    const listener = (): void => {
      stoppedWith = code;
      stop.abort();
    };
    process.once(name, listener);
    return () => process.off(name, listener);
  });
  try {
    const value = await work(stop.signal);
    return { value, stoppedWith };
  } finally {
    for (const unlisten of listeners) unlisten();
  }
}
