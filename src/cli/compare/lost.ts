import type { Loss } from '../../lab/losses.ts';
import type { RowLosses } from './compare-recording.ts';

/** Something a later call needed that was not there any more. */
export interface LostNeed extends Loss {
  readonly session: string;
  readonly row: string;
  readonly level: string;
}

/** So many losses of one row at one level in one session are told. */
const TOLD = 8;

/**
 * The most telling losses: of each row, level and session the soonest needed, each once, and those of all in turns, so
 * that the first of a long list are of every kind.
 */
export function telling(losses: readonly (RowLosses & { readonly session: string })[]): readonly LostNeed[] {
  const groups = Map.groupBy(losses, ({ row, level, session }) => JSON.stringify([row, level, session]));
  const told = [...groups.values()].map((group) => {
    const needs = group.flatMap(({ row, level, session, first }) =>
      first.map((loss) => ({ session, row, level, ...loss })),
    );
    const distinct = [...new Map(needs.toReversed().map((need) => [need.what, need])).values()];
    return distinct
      .toSorted((left, right) => (left.roundsLater ?? 0) - (right.roundsLater ?? 0))
      .slice(0, TOLD);
  });
  return Array.from({ length: TOLD }, (_, rank) => told.flatMap((needs) => needs[rank] ?? [])).flat();
}
