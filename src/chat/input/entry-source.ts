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
