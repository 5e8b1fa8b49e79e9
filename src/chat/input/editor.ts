import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { type EntrySource, HOW_TO_QUIT, PROMPT } from './entries.ts';
import { type EditBuffer, linesAboveCursor, type ScreenLines, toScreenLines } from './screen-lines.ts';

const emptyBuffer: EditBuffer = { text: '', cursor: 0 };

export function bufferOf(text: string): EditBuffer {
  return { text, cursor: text.length };
}

function insert({ text, cursor }: EditBuffer, piece: string): EditBuffer {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

/** Removes what stands between the cursor and where `move` takes it. */
function removeTo(buffer: EditBuffer, move: Move): EditBuffer {
  const { cursor: other } = move(buffer);
  const start = Math.min(buffer.cursor, other);
  const end = Math.max(buffer.cursor, other);
  return { text: buffer.text.slice(0, start) + buffer.text.slice(end), cursor: start };
}

export type Move = (buffer: EditBuffer) => EditBuffer;

/** Moves of the cursor, by name. */
const moves = {
  left: ({ text, cursor }) => ({ text, cursor: cursor - characterBefore(text, cursor) }),
  right: ({ text, cursor }) => ({ text, cursor: cursor + characterAfter(text, cursor) }),
  lineStart: ({ text, cursor }) => ({ text, cursor: text.lastIndexOf('\n', cursor - 1) + 1 }),
  lineEnd: ({ text, cursor }) => {
    const end = text.indexOf('\n', cursor);
    return { text, cursor: end < 0 ? text.length : end };
  },
  wordLeft: ({ text, cursor }) => {
    let place = cursor;
    while (place > 0 && isBlank(text, place - 1)) place--;
    while (place > 0 && !isBlank(text, place - 1)) place--;
    return { text, cursor: place };
  },
} satisfies Readonly<Record<string, Move>>;

function isBlank(text: string, index: number): boolean {
  return /\s/.test(text.charAt(index));
}

function characterBefore(text: string, cursor: number): number {
  if (cursor <= 0) return 0;
  const isPair = cursor > 1 && (text.codePointAt(cursor - 2) ?? 0) > 0xffff;
  return isPair ? 2 : 1;
}

function characterAfter(text: string, cursor: number): number {
  if (cursor >= text.length) return 0;
  return (text.codePointAt(cursor) ?? 0) > 0xffff ? 2 : 1;
}

/** What a tab offers: what to put in place of the text so far, and what there is to choose from. */
export interface Completed {
  readonly text: string;
  readonly choices: readonly string[];
}

export interface EditorOptions {
  readonly input: ReadStream;
  out(text: string): void;
  size(): { readonly columns: number; readonly rows: number };
  complete(text: string): Completed;
  style(text: string): string;
}

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
const CLEAR_BELOW = '\u001b[J';

type Press = readonly [text: string | undefined, key: Key];

/** Keys that edit. */
const edits: ReadonlyMap<string, (buffer: EditBuffer) => EditBuffer> = new Map([
  ['left', moves.left],
  ['right', moves.right],
  ['home', moves.lineStart],
  ['end', moves.lineEnd],
  ['ctrl+a', moves.lineStart],
  ['ctrl+e', moves.lineEnd],
  ['ctrl+b', moves.left],
  ['ctrl+f', moves.right],
  ['backspace', remove(moves.left)],
  ['ctrl+h', remove(moves.left)],
  ['delete', remove(moves.right)],
  ['ctrl+u', remove(moves.lineStart)],
  ['ctrl+k', remove(moves.lineEnd)],
  ['ctrl+w', remove(moves.wordLeft)],
]);

function remove(move: Move): (buffer: EditBuffer) => EditBuffer {
  return (buffer) => removeTo(buffer, move);
}

/**
 * Lets the user write entries on a terminal: history, completion, several lines, and a paste as one entry. What is typed
 * while a turn runs is kept for the next entry.
 */
export class Editor implements EntrySource {
  readonly #options: EditorOptions;
  readonly #history: string[] = [];
  readonly #early: Press[] = [];
  #place = 0;
  #draft = '';
  #buffer: EditBuffer = emptyBuffer;
  #drawn: ScreenLines | undefined;
  /** What of a paste has come; undefined when nothing is pasted. */
  #paste: string | undefined;
  #isOver = false;
  #answer: ((entry: string | undefined) => void) | undefined;
  #cancel: (() => void) | undefined;
  /** Ctrl-C came before the turn has begun to listen. */
  #isCancelled = false;

  constructor(options: EditorOptions) {
    this.#options = options;
    const { input } = options;
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on('keypress', this.#onKey);
    input.on('end', this.#onEnd);
    process.stdout.on('resize', this.#onResize);
    process.once('exit', this.#restore);
    input.resume();
    options.out(PASTE_ON);
  }

  next(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#isCancelled = false;
      this.#buffer = emptyBuffer;
      this.#place = this.#history.length;
      this.#draw();
      for (const press of this.#early.splice(0)) this.#press(press);
      if (this.#isOver) this.#finish(undefined);
    });
  }

  onCancel(cancel: () => void): () => void {
    this.#cancel = cancel;
    if (this.#isCancelled) this.#interrupt();
    return () => {
      this.#cancel = undefined;
    };
  }

  close(): void {
    const { input } = this.#options;
    input.off('keypress', this.#onKey);
    input.off('end', this.#onEnd);
    process.stdout.off('resize', this.#onResize);
    process.off('exit', this.#restore);
    this.#restore();
    input.pause();
  }

  readonly #restore = (): void => {
    this.#options.out(PASTE_OFF);
    this.#options.input.setRawMode(false);
  };

  readonly #onKey = (text: string | undefined, key: Key): void => this.#press([text, key]);

  readonly #onEnd = (): void => {
    this.#isOver = true;
    this.#cancel?.();
    this.#finish(undefined);
  };

  readonly #onResize = (): void => {
    if (this.#answer !== undefined) this.#draw();
  };

  #press(press: Press): void {
    const [text, key] = press;
    const name = `${key.ctrl === true ? 'ctrl+' : ''}${key.meta === true ? 'alt+' : ''}${key.name ?? ''}`;
    if (this.#answer === undefined) {
      if (name === 'ctrl+c') this.#interrupt();
      else this.#early.push(press);
      return;
    }
    // A paste comes key by key: it is taken, and drawn, as a whole. Nothing that is pasted is a Ctrl-C.
    if (name === 'paste-start') this.#paste = '';
    else if (this.#paste === undefined || name === 'ctrl+c') this.#command(name, text);
    else if (name === 'paste-end') this.#edit(insert(this.#buffer, pasted(this.#paste)));
    else this.#paste += text ?? key.sequence ?? '';
    if (name === 'paste-end' || name === 'ctrl+c') this.#paste = undefined;
    if (this.#paste === undefined && this.#answer !== undefined) this.#draw();
  }

  #interrupt(): void {
    this.#early.length = 0;
    this.#isCancelled = this.#cancel === undefined;
    this.#cancel?.();
  }

  #command(name: string, text: string | undefined): void {
    const edit = edits.get(name);
    if (edit !== undefined) this.#edit(edit(this.#buffer));
    else if (name === 'return') this.#submit();
    else if (name === 'enter' || name === 'alt+return') this.#edit(insert(this.#buffer, '\n'));
    else if (name === 'tab') this.#complete();
    else if (name === 'up' || name === 'ctrl+p') this.#recall(-1);
    else if (name === 'down' || name === 'ctrl+n') this.#recall(1);
    else if (name === 'ctrl+c') this.#abandon();
    else if (name === 'ctrl+d') this.#leave();
    else if (name === 'ctrl+l') this.#say('\u001b[2J\u001b[H');
    else if (text !== undefined && !/[\p{Cc}]/u.test(text)) this.#edit(insert(this.#buffer, text));
  }

  #edit(buffer: EditBuffer): void {
    this.#buffer = buffer;
  }

  #submit(): void {
    const { text } = this.#buffer;
    this.#remember(text);
    this.#finish(text);
  }

  #remember(text: string): void {
    if (text.trim() !== '' && this.#history.at(-1) !== text) this.#history.push(text);
  }

  /** What was written and not sent can be found in the history. */
  #abandon(): void {
    if (this.#buffer.text === '') this.#say(`${this.#options.style(HOW_TO_QUIT)}\r\n`);
    this.#remember(this.#buffer.text);
    this.#place = this.#history.length;
    this.#edit(emptyBuffer);
  }

  #leave(): void {
    if (this.#buffer.text === '') this.#finish(undefined);
    else this.#edit(removeTo(this.#buffer, moves.right));
  }

  #recall(step: number): void {
    if (this.#place === this.#history.length) this.#draft = this.#buffer.text;
    this.#place = Math.max(0, Math.min(this.#history.length, this.#place + step));
    this.#edit(bufferOf(this.#history[this.#place] ?? this.#draft));
  }

  #complete(): void {
    const { text, cursor } = this.#buffer;
    const { text: completed, choices } = this.#options.complete(text.slice(0, cursor));
    if (completed === text.slice(0, cursor) && choices.length > 1)
      this.#say(`${this.#options.style(choices.join('  '))}\r\n`);
    this.#edit({ text: completed + text.slice(cursor), cursor: completed.length });
  }

  /** Prints something above the line being edited. */
  #say(text: string): void {
    this.#erase();
    this.#options.out(text);
    this.#drawn = undefined;
  }

  #finish(entry: string | undefined): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#edit(bufferOf(this.#buffer.text));
    this.#draw();
    this.#answer = undefined;
    this.#drawn = undefined;
    this.#options.out('\r\n');
    answer(entry);
  }

  #erase(): void {
    if (this.#drawn === undefined) return;
    const above = linesAboveCursor(this.#drawn, this.#options.size().columns);
    this.#options.out(`\r${above > 0 ? `\u001b[${above}A` : ''}${CLEAR_BELOW}`);
  }

  #draw(): void {
    this.#erase();
    const drawn = toScreenLines(this.#buffer, { prompt: PROMPT, ...this.#options.size() });
    const below = drawn.lines.length - 1 - drawn.cursorLine;
    const up = below > 0 ? `\u001b[${below}A` : '';
    const right = drawn.cursorColumn > 0 ? `\u001b[${drawn.cursorColumn}C` : '';
    this.#options.out(`${drawn.lines.join('\r\n')}${up}\r${right}`);
    this.#drawn = drawn;
  }
}

/** Pasted text with one kind of line end, and nothing in it that a terminal would act upon. */
function pasted(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '');
}
