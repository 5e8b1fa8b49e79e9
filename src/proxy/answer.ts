import type { RawHeaders } from './headers.ts';

/** What goes on to upstream. */
export interface Outgoing {
  readonly headers: RawHeaders;
  /** Another body than the one that came; undefined for that one. */
  readonly body: Uint8Array | undefined;
}

/** What upstream answered, as far as an exchange looks at it. */
export interface Answer {
  readonly status: number;
  readonly headers: RawHeaders;
  /**
   * The text of the whole body, which can be passed on afterwards all the same; undefined when it is too long for a
   * refusal or cannot be read.
   */
  peek(): Promise<string | undefined>;
  /**
   * The text of a stream until somebody has seen enough, or for as long as that is worth the wait; it can be passed on
   * afterwards all the same. Undefined when it cannot be read.
   */
  peekEvents(isEnough: (text: string) => boolean): Promise<string | undefined>;
  /** Nobody wants the rest of it. */
  discard(): void;
}

/** Takes the chunks of an answer while it passes. */
export interface ChunkSink {
  push(chunk: Uint8Array): void;
  /** There is no more. May be called again. */
  end(): void | Promise<void>;
}
