import { createHash, hash, type Hash as NodeHash } from 'node:crypto';
import type { HashStream } from '../core/chain.ts';

/** SHA-256 of bytes, or of a text in UTF-8, as hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

sha256.stream = (): HashStream => new Sha256Stream(createHash('sha256'));

class Sha256Stream implements HashStream {
  readonly #hash: NodeHash;

  constructor(started: NodeHash) {
    this.#hash = started;
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  copy(): HashStream {
    return new Sha256Stream(this.#hash.copy());
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}
