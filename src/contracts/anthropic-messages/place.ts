import type { Violation } from '../contract.ts';

/** Sorts violations by where they stand: the frame first, then the messages in order. Stable for equal places. */
export function inOrderOfPlace(violations: readonly Violation[]): Violation[] {
  return violations
    .map((violation) => ({ violation, key: placeKey(violation.path) }))
    .sort((left, right) => compareKeys(left.key, right.key))
    .map(({ violation }) => violation);
}

/** Message and block index; -1 for what holds for everything below. Frame fields come before all messages. */
function placeKey(path: string): readonly [number, number] {
  const [root, message, content, block] = path.split('.');
  if (root !== 'messages') return [-2, -1];
  return [index(message), content === 'content' ? index(block) : -1];
}

function index(segment: string | undefined): number {
  return segment === undefined || !/^\d+$/.test(segment) ? -1 : Number(segment);
}

function compareKeys(left: readonly [number, number], right: readonly [number, number]): number {
  return left[0] - right[0] || left[1] - right[1];
}
