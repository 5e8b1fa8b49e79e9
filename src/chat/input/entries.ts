import { createInterface } from 'node:readline';

/** Where the user's entries come from: a terminal with an editor, or lines of a pipe. */
export interface EntrySource {
  /** The next entry; undefined when there are no more. */
  next(): Promise<string | undefined>;
  /** Calls back for a Ctrl-C while a turn runs; gives the way to stop listening. */
  onCancel(cancel: () => void): () => void;
  close(): void;
}

export const PROMPT = '> ';

/** Said when somebody tries to leave by Ctrl-C. */
export const HOW_TO_QUIT = 'Ctrl-D or /quit leaves the chat; it is saved after every turn.';

export interface LineEntriesOptions {
  readonly input: NodeJS.ReadableStream;
  out(text: string): void;
  /** Whether somebody sits at the other end and wants to see where to write. */
  readonly hasPrompt: boolean;
}

/** One line, one entry: for pipes, and for terminals that can do nothing else. */
export function openLineEntries({ input, out, hasPrompt }: LineEntriesOptions): EntrySource {
  const reader = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const waiting: string[] = [];
  let isOver = false;
  let wake: (() => void) | undefined;
  let cancel: (() => void) | undefined;
  reader.on('line', (line) => {
    waiting.push(line);
    wake?.();
  });
  reader.on('close', () => {
    isOver = true;
    wake?.();
  });
  // In a pipe too: whoever presses Ctrl-C while a turn runs wants that turn to end, and nothing else lost.
  const interrupt = () => {
    if (cancel !== undefined) cancel();
    else {
      isOver = true;
      wake?.();
    }
  };
  process.on('SIGINT', interrupt);
  return {
    async next() {
      if (hasPrompt) out(PROMPT);
      while (waiting.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = undefined;
      return waiting.shift();
    },
    onCancel(given) {
      cancel = given;
      return () => {
        cancel = undefined;
      };
    },
    close() {
      process.off('SIGINT', interrupt);
      reader.close();
    },
  };
}
