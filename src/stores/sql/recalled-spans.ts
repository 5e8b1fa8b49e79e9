import type { ArchivedSpan } from '../../core/store.ts';
import { TOUCH_AFTER_MS } from '../last-use.ts';

const MAXIMUM_BYTES = 32 * 1024 * 1024;
const MAXIMUM_KEYS = 10_000;

interface RecalledSpan {
  readonly span: ArchivedSpan;
  /** When its conversation was used, as far as it is written down. */
  readonly usedAt: number;
}

/**
 * Spans that were recalled more than once: who reads a long one piece by piece recalls it for each piece. They are good as
 * long as nobody has written to the database since, which takes less time to ask than to read them again, and until the
 * last use of their conversation is to be written down again.
 */
export class RecalledSpans {
  readonly #now: () => number;
  readonly #entries = new Map<string, RecalledSpan>();
  readonly #seen = new Set<string>();
  #bytes = 0;
  #generation: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether it was recalled before. Most spans never are again, and are not worth the memory. */
  isRepeated(key: string): boolean {
    if (this.#seen.has(key)) return true;
    if (this.#seen.size >= MAXIMUM_KEYS) this.#seen.clear();
    this.#seen.add(key);
    return false;
  }

  /** What was recalled under that name in this generation of the database, with bytes of the caller's own. */
  get(key: string, generation: number): ArchivedSpan | undefined {
    if (generation !== this.#generation) this.clear();
    this.#generation = generation;
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.usedAt < this.#now() - TOUCH_AFTER_MS) return undefined;
    return copyOf(entry.span);
  }

  /** Keeps a span that was read after `get` was asked for it. */
  add(key: string, { span, usedAt }: RecalledSpan): void {
    this.remove(key);
    const bytes = sizeOf(span);
    if (bytes > MAXIMUM_BYTES) return;
    if (this.#bytes + bytes > MAXIMUM_BYTES) this.clear();
    this.#bytes += bytes;
    this.#entries.set(key, { span: copyOf(span), usedAt });
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#bytes -= sizeOf(entry.span);
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}

/** Names in the form of a column have no line breaks. */
export function recallKey({ tenant, handle }: { readonly tenant: string; readonly handle: string }): string {
  return `${tenant}\n${handle}`;
}

function copyOf(span: ArchivedSpan): ArchivedSpan {
  return { ...span, body: span.body.slice() };
}

/** A character of text takes two bytes at most. */
function sizeOf({ body, text }: ArchivedSpan): number {
  return body.length + 2 * text.length;
}
