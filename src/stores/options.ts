import type { StoreFault } from './store.ts';

/** What every store takes. */
export interface StoreOptions {
  /** Seals every record, at least 16 bytes. Records of another secret, or of none, count as missing. */
  readonly secret?: string | Uint8Array | undefined;
  /** Is told of every record that cannot be served. */
  readonly onFault?: ((fault: StoreFault) => void) | undefined;
  /** Milliseconds since 1970, for leases and last use. */
  readonly now?: (() => number) | undefined;
}
