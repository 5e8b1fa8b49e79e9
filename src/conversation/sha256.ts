import type { Hash, HashStream } from './chain.ts';
import { plainSha256 } from './sha256-words.ts';

/** A hash of the platform, as far as it is needed here. */
interface PlatformHash {
  update(text: string, encoding: 'utf8'): unknown;
  copy(): PlatformHash;
  digest(encoding: 'hex'): string;
}

type CreateHash = (algorithm: 'sha256') => PlatformHash;

/** SHA-256 of a text in UTF-8, as hexadecimal digits: the platform's own where it can be had at once, else a plain one. */
export const sha256: Hash = platformSha256(findCreateHash()) ?? plainSha256;

/** Asked for in this way, nothing has to be loaded where there is no such module. */
function findCreateHash(): CreateHash | undefined {
  return globalThis.process?.getBuiltinModule?.('node:crypto')?.createHash;
}

function platformSha256(createHash: CreateHash | undefined): Hash | undefined {
  if (createHash === undefined) return undefined;
  const stream = () => toStream(createHash('sha256'));
  const hash = (text: string) => {
    const started = stream();
    started.add(text);
    return started.digest();
  };
  return Object.assign(hash, { stream });
}

function toStream(hash: PlatformHash): HashStream {
  return {
    add: (text) => void hash.update(text, 'utf8'),
    copy: () => toStream(hash.copy()),
    digest: () => hash.digest('hex'),
  };
}
