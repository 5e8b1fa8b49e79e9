import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';

/** A program to start with the terminal of this process. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Signals that end a program, or tell it that its terminal has changed. */
const forwarded: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a program to its end, with our terminal as its own.
 * @returns what it ended with; 128 and the number of the signal when it was killed by one
 * @throws RoundfoldError `usage` when it cannot be started
 */
export function runProgram({ command, args, env }: Program): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { stdio: 'inherit', env });
    const stopForwarding = forwardSignals(child);
    child.once('error', (cause) => {
      stopForwarding();
      reject(cannotStart(command, cause));
    });
    child.once('close', (code, signal) => {
      stopForwarding();
      resolve(code ?? signalCode(signal));
    });
  });
}

/** Both as shells count. */
function signalCode(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** What is sent to this process goes to the program, which decides what comes of it. */
function forwardSignals(child: ChildProcess): () => void {
  const listeners = forwarded.map((signal) => {
    const listener = (): void => {
      // Ctrl-C in a terminal has reached the program already: many take a second one for more than the first.
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      child.kill(signal);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const stop of listeners) stop();
  };
}

function cannotStart(command: string, cause: Error): RoundfoldError {
  const isMissing = 'code' in cause && cause.code === 'ENOENT';
  const why = isMissing ? 'there is no such program' : cause.message;
  return new RoundfoldError('usage', `cannot start ${printable(command, 80)}: ${why}`, {
    cause,
    remedy: isMissing ? 'Install it, or give its whole path.' : undefined,
  });
}

const ASK_MS = 10_000;

/** What a program prints, on both of its streams; empty when it cannot be run. */
export function askProgram({ command, args, env }: Program): string {
  const { stdout, stderr } = spawnSync(command, [...args], { env, encoding: 'utf8', timeout: ASK_MS });
  return `${stdout ?? ''}${stderr ?? ''}`;
}
