import { once } from 'node:events';
import { type ExitCode, exitCodes } from './exit-codes.ts';

const codes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/**
 * Does work that Ctrl-C and SIGTERM abort through a signal instead of ending the process, so that nothing is left half
 * done. A second one ends the process at once.
 * @returns what came of the work, and what to end with when it was stopped
 */
export async function untilInterrupted<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<{ readonly value: Value; readonly stoppedWith: ExitCode | undefined }> {
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

/** Waits for the first signal that asks a process to end. A second one then ends it at once. */
export async function untilTold(): Promise<void> {
  const told = new AbortController();
  const { signal } = told;
  const signals = Object.keys(codes).map((name) => once(process, name, { signal }));
  await Promise.race(signals).finally(() => told.abort());
}
