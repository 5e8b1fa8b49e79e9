import { canonicalRulesOf } from './canonical-rules.ts';
import { type Level, levelOf, writeMessage } from './canonical-writer.ts';
import { type VolatileParts, volatileTree, withoutMarkers } from './volatile.ts';

/** The one way in which a wire format's messages are written down to be compared. */
export interface Canonical {
  /**
   * What two messages share when they say the same to the provider, and only then: neither the order of keys nor a short
   * form nor a volatile part makes a difference, everything else does, fields that nobody knows included. No text is the
   * beginning of another, so that texts can stand one behind the other.
   */
  textOf(raw: unknown): string;
  /** The message without the cache markers of the request it came in; the very same value when it has none. */
  withoutMarkers(raw: unknown): unknown;
  /** Changes when the rules do. */
  readonly version: string;
}

/** Changes with the way of writing, so that chains of another one never match. */
const VERSION = '3';

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
  return {
    version: JSON.stringify([VERSION, anywherePaths.toSorted(), messagePaths.toSorted()]),
    textOf: (raw) => writeMessage(raw, messages),
    withoutMarkers: (raw) => withoutMarkers(raw, { structure: rules.structure, anywhere }),
  };
}
