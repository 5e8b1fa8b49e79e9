/** What every client over HTTP can be told. */
export interface HttpClientOptions {
  readonly model: string;
  /** Sent as the provider wants it. Default: none, which is what local servers expect. */
  readonly apiKey?: string | undefined;
  /** Where the API lives. Default: the provider's own address. */
  readonly baseUrl?: string | undefined;
  /**
   * Asks for a streamed answer: for long answers, and for proxies that break a connection on which nothing moves. Default
   * false. A stream that nobody asked for is understood as well.
   */
  readonly streams?: boolean | undefined;
  /** Sent with every request; they win over the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds until an answer must have arrived whole. Default 180 000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global `fetch`, looked up with every request. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}
