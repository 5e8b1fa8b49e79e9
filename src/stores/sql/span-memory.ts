import { TOUCH_AFTER_MS } from '../last-use.ts';
import type { ArchivedSpan } from '../store.ts';
import { RecentHandles } from './recent-handles.ts';

const MAXIMUM_BYTES = 32 * 1024 * 1024;

/** What a span is asked for by. */
export type SpanName = Pick<ArchivedSpan, 'tenant' | 'handle'>;

/** A span as `recall` would find it. */
export interface FoundSpan {
  readonly span: ArchivedSpan;
  /** When its conversation was used, as far as it is written down. */
  readonly usedAt: number;
}

/**
 * Spans that are asked for more than others: those that have just left a view, and those that were recalled more than once,
 * because who reads a long one piece by piece recalls it for each piece. They are good as long as nobody else has written
 * to the database since, which takes less time to ask than to read them again, and until the last use of their
 * conversation is to be written down again.
 */
export class SpanMemory {
  readonly #now: () => number;
  /** By their handles, which are made of their content: hardly ever do two tenants have the same. */
  readonly #entries = new Map<string, FoundSpan>();
  readonly #asked = new RecentHandles();
  #bytes = 0;
  #generation: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether it may be here, or should be from now on. Most spans are never recalled again, and not worth the memory. */
  expects(handle: string): boolean {
    return this.#asked.note(handle) || this.#entries.has(handle);
  }

  /** What is there under that name in this generation of the database, with bytes of the caller's own. */
  get({ tenant, handle }: SpanName, generation: number): ArchivedSpan | undefined {
    this.#enter(generation);
    const entry = this.#entries.get(handle);
    if (entry?.span.tenant !== tenant || entry.usedAt < this.#now() - TOUCH_AFTER_MS) return undefined;
    return copyOf(entry.span);
  }

  /** Keeps what is in the database in this generation. The oldest go first. */
  add({ span, usedAt }: FoundSpan, generation: number): void {
    this.#enter(generation);
    this.remove(span.handle);
    const bytes = sizeOf(span);
    if (bytes > MAXIMUM_BYTES) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= MAXIMUM_BYTES) break;
      this.remove(oldest);
    }
    this.#bytes += bytes;
    this.#entries.set(span.handle, { span: copyOf(span), usedAt });
  }

  remove(handle: string): void {
    const entry = this.#entries.get(handle);
    if (entry === undefined) return;
    this.#bytes -= sizeOf(entry.span);
    this.#entries.delete(handle);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #enter(generation: number): void {
    if (generation !== this.#generation) this.clear();
    this.#generation = generation;
  }
}

/** What a store gives back, and nothing else that a caller may have put in. */
function copyOf(span: ArchivedSpan): ArchivedSpan {
  const { tenant, conversation, handle, start, end, text, createdAt } = span;
  return { tenant, conversation, handle, start, end, body: new Uint8Array(span.body), text, createdAt };
}

/** A character of text takes two bytes at most. */
function sizeOf({ body, text }: ArchivedSpan): number {
  return body.length + 2 * text.length;
}
