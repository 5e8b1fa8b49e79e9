/**
 * One change to a list of messages. Edits are data, in the coordinates of the list they are made for: they can be looked
 * at, stored and applied later.
 *
 * - `drop`: the messages from `start` up to and without `end` leave
 * - `summarize`: they leave, and a user message with `text` stands in their place
 * - `insert`: a user message with `text` comes before the message at `before`; it may be the summary of what is dropped
 * - `rewrite`: the content of a tool result becomes `text`
 * - `strip`: a block leaves, or (with `inner`) a block inside a tool result; `text` stands in its place where given
 */
export type Edit =
  | {
      readonly type: 'drop';
      readonly start: number;
      readonly end: number;
      /** A summary elsewhere in the list speaks for them. */
      readonly isSummarised?: boolean;
    }
  | { readonly type: 'summarize'; readonly start: number; readonly end: number; readonly text: string }
  | {
      readonly type: 'insert';
      readonly before: number;
      readonly text: string;
      /** Texts that stand in front of it in the same message. */
      readonly opening?: readonly string[];
      /** It speaks for the messages that are dropped as summarised. */
      readonly isSummary?: boolean;
    }
  | { readonly type: 'rewrite'; readonly message: number; readonly block: number; readonly text: string }
  | {
      readonly type: 'strip';
      readonly message: number;
      readonly block: number;
      readonly inner?: number;
      readonly text?: string;
    };

/** What became of an original message. */
export type Fate = 'verbatim' | 'reduced' | 'summarised' | 'dropped';
