import type { Generated } from 'kysely';

/** A number, which PostgreSQL hands out as text because it may be larger than a number of JavaScript. */
export type BigInteger = number | string;

/** Names are in the form of `nameInColumn`. */
export interface Tables {
  readonly conversations: {
    readonly id: Generated<BigInteger>;
    readonly tenant: string;
    readonly conversation: string;
    readonly created_at: BigInteger;
    readonly used_at: BigInteger;
    /** Leases with a smaller fence may not write. A row without records is kept for it. */
    readonly forgotten_fence: BigInteger;
  };
  readonly checkpoints: {
    readonly id: Generated<BigInteger>;
    readonly conversation_id: BigInteger;
    readonly tenant: string;
    readonly configuration: string;
    /** Boundary and chain as one text. */
    readonly link: string;
    readonly boundary: BigInteger;
    readonly body: Uint8Array;
  };
  readonly spans: {
    readonly id: Generated<BigInteger>;
    readonly conversation_id: BigInteger;
    readonly tenant: string;
    readonly handle: string;
    /** The span's `start`. */
    readonly place: BigInteger;
    readonly body: Uint8Array;
  };
  /** The search index, one row for each span that is not sealed. */
  readonly span_words: {
    readonly rowid: BigInteger;
    readonly words: string;
  };
  readonly leases: {
    readonly tenant: string;
    readonly lease_key: string;
    readonly owner: string;
    readonly fence: BigInteger;
    readonly taken_at: BigInteger;
    readonly expires_at: BigInteger;
  };
  /** One row, on SQLite only: PostgreSQL has sequences. */
  readonly counters: {
    readonly fence: BigInteger;
  };
}
