import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { resolve } from 'node:path';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** Runs the built command as a user's shell would. Ends it when it hangs. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: options.cwd,
      // What is kept between looks shall not be kept between tests, and never in the home of whoever runs them.
      env: { PATH: process.env['PATH'] ?? '', XDG_CACHE_HOME: devNull, ...options.env },
      timeout: 50_000,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', fail);
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
    child.on('close', (code) =>
      done({
        code,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8'),
      }),
    );
  });
}
