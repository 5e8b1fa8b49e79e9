import { type Canonical, createCanonical } from './canonical.ts';
import type { Conversation, Format } from './format.ts';
import { hasToolCall, type Message } from './message.ts';
import { rememberFold } from './prefix-memory.ts';
import { TextBytes } from './text-bytes.ts';
import type { VolatileParts } from './volatile.ts';

/** SHA-256 of bytes, or of a text in UTF-8: in full, as hexadecimal digits. */
export type Hash = (data: string | Uint8Array) => string;

/**
 * What identifies the beginning of a conversation, for every length. System messages in front of all others are apart,
 * like instructions outside the list: they pass as they are, and what was summarised stays true under others. All
 * coordinates count from the first message behind them. A system message further back is a message like others.
 */
export interface Chain {
  /** Number of system messages in front. */
  readonly head: number;
  /**
   * `links[n]` stands for the first `n` messages behind the head. Undefined where no list is ever cut: behind a message
   * that asks for a tool, before the answer has come.
   */
  readonly links: readonly (string | undefined)[];
}

export interface Chains {
  /** The chain of a conversation. A longer list of the same messages hashes only what is new. */
  chainOf(conversation: Conversation): Chain;
  canonicalOf(format: Format): Canonical;
}

export interface ChainOptions {
  readonly hash: Hash;
  /** On top of the cache markers of each format. */
  readonly volatile?: Partial<VolatileParts> | undefined;
}

interface Links {
  head: number;
  readonly links: (string | undefined)[];
  last: string;
  /** What came since without a link of its own. */
  readonly waiting: Message[];
}

/** Makes chains. Keep it: what it remembers of a conversation makes the next turn cheap. */
export function createChains({ hash, volatile }: ChainOptions): Chains {
  const text = new TextBytes();
  const byFormat = new Map<
    string,
    { readonly canonical: Canonical; readonly fold: (items: readonly Message[]) => Links }
  >();

  const memoryOf = ({ name }: Format) => {
    const known = byFormat.get(name);
    if (known !== undefined) return known;
    const canonical = createCanonical(name, volatile);
    const seed = hash(`roundfold chain\n${name}\n${canonical.version}`);
    const fold = rememberFold<Message, Links>({
      start: () => ({ head: 0, links: [seed], last: seed, waiting: [] }),
      add(state, message) {
        if (state.links.length === 1 && message.role === 'system') {
          state.head++;
          return;
        }
        state.waiting.push(message);
        if (hasToolCall(message)) {
          state.links.push(undefined);
          return;
        }
        text.cutTo(0);
        text.add(state.last);
        for (const { raw } of state.waiting) canonical.write(raw, text);
        state.last = hash(text.written());
        state.waiting.length = 0;
        state.links.push(state.last);
      },
    });
    const made = { canonical, fold };
    byFormat.set(name, made);
    return made;
  };

  return {
    chainOf({ format, messages }) {
      const { head, links } = memoryOf(format).fold(messages);
      // What is remembered goes on with the next turn; what was told does not.
      return { head, links: links.slice() };
    },
    canonicalOf: (format) => memoryOf(format).canonical,
  };
}

/** Messages by which a conversation with all its branches is known. */
const NAMING_MESSAGES = 4;

/** The name of a conversation: the chain after its first messages. */
export function nameOfConversation({ links }: Chain): string {
  const named = links.slice(NAMING_MESSAGES).find((link) => link !== undefined);
  return named ?? links.findLast((link) => link !== undefined) ?? '';
}
