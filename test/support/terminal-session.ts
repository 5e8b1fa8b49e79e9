import { resolve } from 'node:path';
import { spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';

export interface SessionOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** A program in a real pseudo-terminal, and the screen that somebody would see. */
export interface TerminalSession {
  type(keys: string): void;
  /** Types an entry and waits until the prompt is back. Gives the lines that came between. */
  enter(entry: string): Promise<string>;
  /** Waits until the screen, with all that was scrolled away, fulfils a condition. */
  until(what: string, holds: (text: string) => boolean): Promise<string>;
  /** Everything written so far, as the screen shows it. */
  text(): string;
  /** The lines of the screen that can be seen now. */
  visible(): readonly string[];
  /** Bytes as they came. */
  raw(): string;
  resize(columns: number, rows: number): void;
  /** Ends with the exit code. */
  readonly ended: Promise<number>;
  end(): void;
}

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const PATIENCE_MS = 20_000;

/** Opens the built command in a pseudo-terminal. */
export function openTerminal(args: readonly string[], options: SessionOptions): TerminalSession {
  const { columns = 100, rows = 30, cwd } = options;
  const screen = new headless.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  const child = spawn(process.execPath, [main, ...args], {
    cols: columns,
    rows,
    cwd,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...options.env },
  });
  const watchers = new Set<() => void>();
  let received = '';
  child.onData((data) => {
    received += data;
    screen.write(data, () => {
      for (const watcher of watchers) watcher();
    });
  });
  let state = 'it runs';
  const ended = new Promise<number>((done) =>
    child.onExit(({ exitCode }) => {
      state = `it has ended with ${exitCode}`;
      done(exitCode);
    }),
  );
  const lineAt = (index: number) => screen.buffer.active.getLine(index)?.translateToString(true) ?? '';
  /** Lines that the screen has broken are whole here. */
  const text = () => {
    const { active } = screen.buffer;
    const rows = Array.from({ length: active.length }, (_, index) => {
      const isBroken = active.getLine(index + 1)?.isWrapped === true;
      return `${active.getLine(index)?.translateToString(!isBroken) ?? ''}${isBroken ? '' : '\n'}`;
    });
    return rows.join('').trimEnd();
  };

  const until = (what: string, holds: (text: string) => boolean): Promise<string> =>
    new Promise((done, fail) => {
      const look = () => {
        if (!holds(text())) return;
        stop();
        done(text());
      };
      const stop = () => {
        clearTimeout(timer);
        watchers.delete(look);
      };
      const timer = setTimeout(() => {
        stop();
        fail(new Error(`never seen: ${what}; ${state}\n${text()}`));
      }, PATIENCE_MS);
      watchers.add(look);
      look();
    });

  return {
    type: (keys) => child.write(keys),
    async enter(entry) {
      const before = promptsIn(text());
      const start = text().length;
      child.write(`${entry}\r`);
      const after = await until(
        `a prompt behind ${entry}`,
        (now) => promptsIn(now) > before && isWaiting(now),
      );
      return after.slice(start);
    },
    until,
    text,
    visible: () =>
      Array.from({ length: screen.rows }, (_, row) => lineAt(screen.buffer.active.viewportY + row)),
    raw: () => received,
    resize(columns, rows) {
      child.resize(columns, rows);
      screen.resize(columns, rows);
    },
    ended,
    end: () => child.kill(),
  };
}

function promptsIn(text: string): number {
  return text.split('\n').filter((line) => line === '>' || line.startsWith('> ')).length;
}

/** Whether the last line is an empty prompt. */
export function isWaiting(text: string): boolean {
  return text.split('\n').at(-1) === '>';
}
