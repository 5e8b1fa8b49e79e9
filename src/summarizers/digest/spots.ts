import { AGAIN } from './line-index.ts';
import type { NumberList } from './records.ts';

/** Sorts the spots from here on by where they begin: a path is found before the words inside it. */
export function sortSpots(spots: NumberList, first: number): void {
  for (let spot = first + 3; spot < spots.length; spot += 3) {
    const entity = spots.get(spot);
    const start = spots.get(spot + 1);
    const end = spots.get(spot + 2);
    let to = spot;
    for (; to > first && spots.get(to - 2) > start; to -= 3) {
      for (let field = 0; field < 3; field++) spots.set(to + field, spots.get(to - 3 + field));
    }
    if (to === spot) continue;
    spots.set(to, entity);
    spots.set(to + 1, start);
    spots.set(to + 2, end);
  }
}

/** Marks the names that an earlier spot has already. */
export function markRepeated(spots: NumberList, first: number): void {
  for (let spot = first + 3; spot < spots.length; spot += 3) {
    const entity = spots.get(spot);
    if (entity < 0) continue;
    let before = first;
    while (before < spot && spots.get(before) !== entity) before += 3;
    if (before < spot) spots.set(spot, AGAIN - entity);
  }
}
