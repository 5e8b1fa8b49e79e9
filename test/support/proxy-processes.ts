import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Store } from '../../src/stores/store.ts';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const START_PATIENCE_MS = 30_000;

/** The command `roundfold proxy`, which is started anew whenever it has ended. */
export class ProxyProcess {
  /** Undefined while it does not listen. */
  address: string | undefined;
  readonly log: string;
  readonly #args: readonly string[];
  readonly #home: string;
  #child: ChildProcess | undefined;

  constructor(folder: string, index: number, args: readonly string[]) {
    this.log = join(folder, `proxy-${index}.log`);
    this.#home = folder;
    this.#args = [main, 'proxy', '--port', '0', '--log', this.log, ...args];
  }

  /** Ends when it has said where it listens, or has ended instead. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: this.#home },
    });
    this.#child = child;
    const listens = Promise.withResolvers<void>();
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      // What was said before a kill may be heard after it.
      if (this.address !== undefined || child.killed) return;
      said += chunk.toString('utf8');
      this.address = /ANTHROPIC_BASE_URL=(\S+)\n/.exec(said)?.[1];
      if (this.address !== undefined) listens.resolve();
    });
    const timer = setTimeout(
      () => listens.reject(new Error(`it does not start: ${said}`)),
      START_PATIENCE_MS,
    );
    await Promise.race([listens.promise, once(child, 'close')]);
    clearTimeout(timer);
    if (this.address === undefined) throw new Error(`it ended at once: ${said}`);
  }

  /** As if the power were cut. */
  async kill(): Promise<void> {
    this.address = undefined;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }
}

/** Checkpoints that logs say are saved, by the beginning of their conversation's name and their boundary. */
export function acknowledgedIn(logs: readonly string[]): ReadonlySet<string> {
  const lines = logs.flatMap((log) => readFileSync(log, 'utf8').split('\n'));
  const saved = new Set<string>();
  for (const line of lines) {
    // A process that is killed may leave half a line.
    if (!line.includes('"checkpoint-saved"') || !line.endsWith('}')) continue;
    const { conversation, boundary } = JSON.parse(line) as { conversation: string; boundary: number };
    saved.add(`${conversation} ${boundary}`);
  }
  return saved;
}

/** What a store holds: keys as logs write them, and chains. */
export async function checkpointsIn(
  store: Store,
): Promise<{ readonly keys: ReadonlySet<string>; readonly chains: ReadonlySet<string> }> {
  const keys = new Set<string>();
  const chains = new Set<string>();
  for (const conversation of await store.list()) {
    for (const { conversation: name, boundary, chain } of await store.checkpoints(conversation)) {
      keys.add(`${name.slice(0, 12)} ${boundary}`);
      chains.add(chain);
    }
  }
  return { keys, chains };
}
