/** Longer words are not mistyped names. */
const LONGEST_WORD = 60;

/** The known name that is closest to a mistyped one; undefined when none is close. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (word === '' || word.length > LONGEST_WORD) return undefined;
  const wanted = word.toLowerCase();
  const begun = names.find((name) => wanted.length >= 3 && name.startsWith(wanted));
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(wanted, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.min(wanted.length, name.length) / 3))
    .toSorted((left, right) => left.distance - right.distance);
  return best?.name ?? begun;
}

/** How many letters have to be added, taken, changed, or swapped with their neighbour. */
function distanceOf(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const steps = [
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      ];
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (isSwap && row > 1 && column > 1) steps.push(at(beforeLast, column - 2) + 1);
      current.push(Math.min(...steps));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
