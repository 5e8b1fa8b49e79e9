import { type Canonical, createCanonical } from './canonical.ts';
import { writeText } from './canonical-writer.ts';
import type { Conversation, Format } from './format.ts';
import type { Message } from './message.ts';
import { rememberFold } from './prefix-memory.ts';
import type { VolatileParts } from './volatile.ts';

/** SHA-256, in full, as hexadecimal digits. */
export interface Hash {
  /** Of a text in UTF-8. */
  (text: string): string;
  /** Of texts that stand one behind the other. */
  stream(): HashStream;
}

/** A hash under way. */
export interface HashStream {
  /** Takes the next text in. */
  add(text: string): void;
  /** Another one that has taken in the same. */
  copy(): HashStream;
  /** The hash of what was taken in. This stream has ended with it. */
  digest(): string;
}

/**
 * What identifies the beginning of a conversation, for every length. System messages in front of all others are apart,
 * like instructions outside the list: they pass as they are, and what was summarised stays true under others. All
 * coordinates count from the first message behind them. A system message further back is a message like others.
 */
export interface Chain {
  /** Number of system messages in front. */
  readonly head: number;
  /** Number of messages behind the head. */
  readonly length: number;
  /** What stands for the first `count` messages behind the head: worked out when it is asked for, and as far. */
  linkAt(count: number): string;
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

/** Makes chains. Keep it: what it remembers of a conversation makes the next turn cheap. */
export function createChains({ hash, volatile }: ChainOptions): Chains {
  const byFormat = new Map<
    string,
    { readonly canonical: Canonical; readonly fold: (items: readonly Message[]) => Links }
  >();

  const memoryOf = ({ name }: Format) => {
    const known = byFormat.get(name);
    if (known !== undefined) return known;
    const canonical = createCanonical(name, volatile);
    const fold = rememberFold<Message, Links>({
      start() {
        const stream = hash.stream();
        stream.add(['roundfold chain', name, canonical.version].map(writeText).join(''));
        return new Links(stream, canonical);
      },
      add: (links, message) => links.push(message),
    });
    const made = { canonical, fold };
    byFormat.set(name, made);
    return made;
  };

  return {
    chainOf({ format, messages }) {
      const links = memoryOf(format).fold(messages);
      const { head, length } = links;
      // What is remembered goes on with the next turn, and only ever grows; what was told has this length.
      return { head, length, linkAt: (count) => links.at(Math.min(count, length), messages) };
    },
    canonicalOf: (format) => memoryOf(format).canonical,
  };
}

/** Messages from one hash that is kept to the next: how much may have to be written again, against how much is kept. */
const STRIDE = 512;
/** Characters that wait to be hashed together. */
const MOST_WAITING = 1 << 16;

/** The links of a list that grows. Each is the hash of the seed and of all messages before it, one behind the other. */
class Links {
  head = 0;
  /** Number of messages behind the head. */
  length = 0;
  /** What has taken in the first messages: none, `STRIDE`, twice that, and so on, as far as somebody has asked. */
  readonly #streams: HashStream[];
  /** Those that were asked for. */
  readonly #known = new Map<number, string>();
  readonly #canonical: Canonical;

  constructor(seed: HashStream, canonical: Canonical) {
    this.#streams = [seed];
    this.#canonical = canonical;
  }

  push(message: Message): void {
    if (this.length === 0 && message.role === 'system') this.head++;
    else this.length++;
  }

  /** The link behind so many messages of the list, which begins with those that were pushed. */
  at(count: number, messages: readonly Message[]): string {
    const known = this.#known.get(count);
    if (known !== undefined) return known;
    const strides = Math.floor(count / STRIDE);
    for (let next = this.#streams.length; next <= strides; next++)
      this.#streams.push(this.#streamTo(next * STRIDE, next - 1, messages));
    const link = this.#streamTo(count, strides, messages).digest();
    this.#known.set(count, link);
    return link;
  }

  /** A stream that goes on from one that is kept. */
  #streamTo(count: number, strides: number, messages: readonly Message[]): HashStream {
    const stream = this.#streams[strides]?.copy();
    if (stream === undefined) throw new RangeError('a stream that was not made yet');
    let waiting = '';
    for (let index = strides * STRIDE; index < count; index++) {
      waiting += this.#canonical.textOf(messages[this.head + index]?.raw);
      if (waiting.length < MOST_WAITING) continue;
      stream.add(waiting);
      waiting = '';
    }
    stream.add(waiting);
    return stream;
  }
}

/** Messages by which a conversation with all its branches is known. */
const NAMING_MESSAGES = 4;

/** The name of a conversation: the chain after its first messages. */
export function nameOfConversation(chain: Chain): string {
  return chain.linkAt(NAMING_MESSAGES);
}

/** Every name that it can have had, the present one first: one that was named with fewer messages is still called that. */
export function namesOfConversation(chain: Chain): readonly string[] {
  const longest = Math.min(NAMING_MESSAGES, chain.length);
  return Array.from({ length: Math.max(longest, 1) }, (_one, index) => chain.linkAt(longest - index));
}
