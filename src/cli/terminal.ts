import { randomUUID } from 'node:crypto';
import { styleText } from 'node:util';
import { characterWidth } from '../chat/input/screen-lines.ts';
import { printableLines } from '../conversation/printable.ts';
import { drawBar, formatShare } from '../report/terminal.ts';

/**
 * Everything a command may say, and how. What files hold is a stranger's text: of all that goes through `out`, `talk` and
 * `redraw`, a terminal acts upon nothing but line ends and styles of our own.
 */
export interface Terminal {
  /** Text for people to read, on standard output. */
  out(text: string): void;
  /** Data for programs, on standard output, as it is. */
  data(content: string | Uint8Array): void;
  /** Text for people, beside the data. */
  talk(text: string): void;
  /** Writes over the line that `talk` stands on. */
  redraw(text: string): void;
  /** Control sequences of our own, for an editor on standard output. Never what was read. */
  drive(sequence: string): void;
  /** Styles text for `out`; plain when that is no terminal or colour is not wanted. */
  style(style: Style, text: string): string;
  styleTalk(style: Style, text: string): string;
  /** Columns of `out`; 80 when it is no terminal. */
  readonly columns: number;
  /** Whether `out` is a screen, which breaks longer lines anywhere. */
  readonly isScreen: boolean;
  /** Whether somebody is watching `talk`: only then progress is shown. */
  readonly isWatched: boolean;
  /** Whether to draw with plain characters. */
  readonly isPlain: boolean;
}

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

const ESCAPE = '\u001b';
const WIPE = `\r${ESCAPE}[2K`;

/**
 * Stands for the escape character in styles of our own until they are written. Every process has another one, so that no
 * file can hold it.
 */
const SEAL: string = randomUUID();

/** The terminal of this process. Honours NO_COLOR, FORCE_COLOR and TERM=dumb. */
export function processTerminal(
  { color, quiet }: { readonly color: boolean; readonly quiet: boolean },
  { stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'> = process,
): Terminal {
  const isDumb = process.env['TERM'] === 'dumb';
  const talk = (text: string): void => {
    if (!quiet) stderr.write(text);
  };
  const style = (stream: NodeJS.WriteStream) => (name: Style, text: string) =>
    color ? styleText(name, printableLines(text), { stream }).replaceAll(ESCAPE, SEAL) : text;
  return {
    out: (text) => void stdout.write(shown(text)),
    data: (content) => void stdout.write(content),
    talk: (text) => talk(shown(text)),
    redraw: (text) => talk(`${WIPE}${shown(text)}`),
    drive: (sequence) => void stdout.write(unsealed(sequence)),
    style: style(stdout),
    styleTalk: style(stderr),
    columns: stdout.isTTY ? Math.max(40, stdout.columns) : 80,
    isScreen: stdout.isTTY,
    isWatched: stderr.isTTY && !quiet && !isDumb && process.env['CI'] === undefined,
    isPlain: isDumb,
  };
}

/** Text as a terminal may get it. */
export function shown(text: string): string {
  return unsealed(printableLines(text));
}

function unsealed(text: string): string {
  return text.replaceAll(SEAL, ESCAPE);
}

/** The text in lines of at most so many columns, broken between words; every line but the first behind `indent`. */
export function wrapText(text: string, columns: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > columns - indent.length) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join(`\n${indent}`);
}

/** Columns that a text takes on a screen. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** A line on the talking side that is written over while work goes on, where somebody watches. */
export interface ProgressLine {
  update(text: () => string): void;
  /** Wipes the line away. */
  end(): void;
}

const INTERVAL_MS = 100;

/** Shows nothing for the first `delayMs`, and then something new every tenth of a second. */
export function startProgressLine(terminal: Terminal, delayMs = 0): ProgressLine {
  let nextMs = Date.now() + delayMs;
  let isShown = false;
  return {
    update(text) {
      const nowMs = Date.now();
      if (!terminal.isWatched || nowMs < nextMs) return;
      nextMs = nowMs + INTERVAL_MS;
      isShown = true;
      terminal.redraw(text());
    },
    end() {
      if (isShown) terminal.redraw('');
      isShown = false;
    },
  };
}

/** How much of something is done, from 0 to 1. */
export function shareBar(share: number, { isPlain }: Terminal): string {
  return `${drawBar(share, 24, isPlain)} ${formatShare(share)}`;
}
