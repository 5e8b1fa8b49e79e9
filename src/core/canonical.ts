import { canonicalRulesOf } from './canonical-rules.ts';
import { CanonicalWriter, type Level, levelOf } from './canonical-writer.ts';
import { TextBytes } from './text-bytes.ts';
import { type VolatileParts, volatileTree, withoutMarkers } from './volatile.ts';

/** The one way in which a wire format's messages are written down to be compared. */
export interface Canonical {
  /**
   * Appends what two messages share when they say the same to the provider, and only then: neither the order of keys nor a
   * short form nor a volatile part makes a difference, everything else does, fields that nobody knows included.
   */
  write(raw: unknown, out: TextBytes): void;
  /** The same as a string, one character for each byte. */
  textOf(raw: unknown): string;
  /** The message without the cache markers of the request it came in; the very same value when it has none. */
  withoutMarkers(raw: unknown): unknown;
  /** Changes when the rules do. */
  readonly version: string;
}

/** Changes with the way of writing, so that chains of another one never match. */
const VERSION = '2';

/** The canonical form of a wire format. Volatile parts come on top of the format's own cache markers. */
export function createCanonical(format: string, volatile: Partial<VolatileParts> = {}): Canonical {
  const rules = canonicalRulesOf(format);
  const anywherePaths = [...rules.volatile.anywhere, ...(volatile.anywhere ?? [])];
  const messagePaths = [...rules.volatile.ofMessages, ...(volatile.ofMessages ?? [])];
  const anywhere = volatileTree(anywherePaths);
  const messages: Level = {
    ...levelOf(rules, volatileTree([...anywherePaths, ...messagePaths])),
    blocks: levelOf(rules, anywhere),
  };
  const alone = new TextBytes();
  const writer = new CanonicalWriter(messages);
  return {
    version: JSON.stringify([VERSION, anywherePaths.toSorted(), messagePaths.toSorted()]),
    write: (raw, out) => writer.write(raw, out),
    textOf(raw) {
      alone.clear();
      writer.write(raw, alone);
      return alone.written().toString('latin1');
    },
    withoutMarkers: (raw) => withoutMarkers(raw, { structure: rules.structure, anywhere }),
  };
}
