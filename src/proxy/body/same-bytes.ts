/** The platform's own comparison, where there is one: a hundred times as fast as a loop. */
const compare: ((left: Uint8Array, right: Uint8Array) => number) | undefined = globalThis.Buffer?.compare;

/** Whether two pieces have the same bytes. */
export function isSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  return compare === undefined
    ? left.every((byte, index) => byte === right[index])
    : compare(left, right) === 0;
}

const BLOCK = 64 * 1024;

/** How many bytes at the beginning of both are the same. */
export function samePrefix(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  let place = 0;
  while (
    place + BLOCK <= length &&
    isSameBytes(left.subarray(place, place + BLOCK), right.subarray(place, place + BLOCK))
  )
    place += BLOCK;
  while (place < length && left[place] === right[place]) place++;
  return place;
}
