/** Where a text belongs: the half the weights are fitted on, or the half they are judged on. */
export type Half = 'fit' | 'test';

/** FNV-1a over UTF-16 units: the same name gives the same number on every machine. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // FNV's low bits mix poorly on short names; one multiply-and-fold round repairs them.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * The half a file belongs to. Folder and name decide, not the whole path, so that copies and versions of
 * one file in several places fall on the same side.
 */
export function halfOf(path: string): Half {
  return hashText(path.split('/').slice(-2).join('/')) % 2 === 0 ? 'fit' : 'test';
}

/** A seeded source of numbers in [0, 1). */
export type Random = () => number;

/** A xorshift generator: the same seed gives the same text on every machine. */
export function createRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
}

/** An integer from `low` to `high`, both included. */
export function integer(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** One element of a list that is not empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}
