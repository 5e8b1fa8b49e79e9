import { styleText } from 'node:util';

/** Everything a command may say, and how. Data goes to `out`, talk to `talk`. */
export interface Terminal {
  /** Bytes go out as they are. */
  out(text: string | Uint8Array): void;
  talk(text: string): void;
  /** Styles text for `out`; plain when that is no terminal or colour is not wanted. */
  style(style: Style, text: string): string;
  styleTalk(style: Style, text: string): string;
  /** Columns of `out`; 80 when it is no terminal. */
  readonly columns: number;
  /** Whether somebody is watching `talk`: only then progress is shown. */
  readonly isWatched: boolean;
  /** Whether to draw with plain characters. */
  readonly isPlain: boolean;
}

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

export interface TerminalOptions {
  readonly color: boolean;
  readonly quiet: boolean;
}

/** The terminal of this process. Honours NO_COLOR, FORCE_COLOR and TERM=dumb. */
export function processTerminal({ color, quiet }: TerminalOptions): Terminal {
  const { stdout, stderr } = process;
  const isDumb = process.env['TERM'] === 'dumb';
  return {
    out: (text) => void stdout.write(text),
    talk: (text) => {
      if (!quiet) stderr.write(text);
    },
    style: (style, text) => (color ? styleText(style, text, { stream: stdout }) : text),
    styleTalk: (style, text) => (color ? styleText(style, text, { stream: stderr }) : text),
    columns: stdout.isTTY ? Math.max(40, stdout.columns) : 80,
    isWatched: stderr.isTTY && !quiet && !isDumb && process.env['CI'] === undefined,
    isPlain: isDumb,
  };
}
