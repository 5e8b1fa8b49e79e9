import { beginningOf } from './body-bytes.ts';
import { type ParsedBody, parseBody } from './parsed-body.ts';

/** Remembers the last body of each conversation, so that the next one is read as far as it is new. */
export interface BodyMemory {
  /** @returns undefined when it is no JSON object */
  parse(bytes: Uint8Array, listKey: string): ParsedBody | undefined;
}

/** Bytes of bodies that are remembered; their values take a multiple of that. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Smaller ones are read in no time. */
const SMALLEST = 16 * 1024;

export function createBodyMemory(mostBytes = MOST_BYTES): BodyMemory {
  /** The one that was used last comes last. */
  const bodies = new Map<number, ParsedBody>();
  let heldBytes = 0;

  const forget = (key: number): void => {
    heldBytes -= bodies.get(key)?.bytes.length ?? 0;
    bodies.delete(key);
  };

  return {
    parse(bytes, listKey) {
      if (bytes.length < SMALLEST) return parseBody(bytes, listKey, undefined);
      const key = hashOf(beginningOf(bytes));
      const body = parseBody(bytes, listKey, bodies.get(key));
      if (body === undefined || bytes.length > mostBytes) return body;
      forget(key);
      bodies.set(key, body);
      heldBytes += bytes.length;
      for (const oldest of bodies.keys()) {
        if (heldBytes <= mostBytes) break;
        forget(oldest);
      }
      return body;
    },
  };
}

/** FNV-1a. Two bodies with the same one are compared byte by byte, so nothing depends on its quality. */
export function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
