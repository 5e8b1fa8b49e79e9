import type { Fate } from '../compaction/plan/plan.ts';
import type { Checkpoint, Stretch, ViewPart } from '../stores/checkpoint.ts';

/** Where a message of a view comes from. */
export interface Piece {
  /** The original message it is, as it is; undefined for one that was made. Negative for the system messages in front. */
  readonly from: number | undefined;
  readonly raw: unknown;
  /** The original messages it speaks for. */
  readonly of: readonly Stretch[];
  /** What became of those. */
  readonly fate: Exclude<Fate, 'dropped'>;
}

/** A message of the original list as it is. */
function originalPiece(from: number, raw: unknown): Piece {
  return { from, raw, of: from < 0 ? [] : [{ start: from, end: from + 1 }], fate: 'verbatim' };
}

/** The pieces of the view of a checkpoint, one for each message; of the list as it is without one. */
export function piecesOf(
  raws: readonly unknown[],
  { head, checkpoint }: { readonly head: number; readonly checkpoint: Checkpoint | undefined },
): readonly Piece[] {
  const pieces = raws.slice(0, head).map((raw, index) => originalPiece(index - head, raw));
  const show = (from: number, end: number) => {
    for (let index = from; index < end; index++) pieces.push(originalPiece(index, raws[head + index]));
  };
  for (const part of checkpoint?.parts ?? []) {
    if ('from' in part) show(part.from, part.from + part.count);
    else pieces.push(madePiece(part, checkpoint));
  }
  show(checkpoint?.boundary ?? 0, raws.length - head);
  return pieces;
}

function madePiece(
  { raw, of = [] }: Extract<ViewPart, { raw: unknown }>,
  checkpoint: Checkpoint | undefined,
): Piece {
  const first = of[0]?.start ?? -1;
  const run = checkpoint?.receipt.runs.find(({ start, end }) => start <= first && first < end);
  return { from: undefined, raw, of, fate: run?.fate === 'reduced' ? 'reduced' : 'summarised' };
}

/** Stretches in order, those that touch as one. */
export function joinStretches(stretches: readonly Stretch[]): readonly Stretch[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of stretches.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}
