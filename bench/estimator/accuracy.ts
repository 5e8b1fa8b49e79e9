import type { Piece } from './corpus.ts';
import { countExactly } from './exact-labels.ts';

/** A way to guess how many tokens a text has. */
export type Counter = (text: string) => number;

/** How far off a counter is on one kind of text; shares, not percent. */
export interface KindError {
  readonly kind: string;
  readonly pieces: number;
  readonly mean: number;
  readonly p95: number;
  readonly bias: number;
}

/** Exact counts are slow: one pass serves every counter. */
export interface CountedPiece extends Piece {
  readonly tokens: number;
}

/** Counts every piece exactly. Pieces without a token are left out: no error is relative to nothing. */
export function countPieces(pieces: readonly Piece[]): readonly CountedPiece[] {
  return pieces
    .map((piece) => ({ ...piece, tokens: countExactly(piece.text) }))
    .filter(({ tokens }) => tokens > 0);
}

/** The error of a counter, kind by kind. */
export function errorsByKind(pieces: readonly CountedPiece[], counter: Counter): readonly KindError[] {
  const byKind = Map.groupBy(pieces, (piece) => piece.kind);
  return [...byKind].map(([kind, ofKind]) => {
    const relative = ofKind.map(({ text, tokens }) => counter(text) / tokens - 1);
    const absolute = relative.map(Math.abs);
    return {
      kind,
      pieces: ofKind.length,
      mean: average(absolute),
      p95: percentile(absolute, 0.95),
      bias: average(relative),
    };
  });
}

/** The mean over kinds: each kind weighs the same. */
export function meanOverKinds(
  errors: readonly KindError[],
  read: (error: KindError) => number = (error) => error.mean,
): number {
  return average(errors.map(read));
}

/** The largest value over the kinds, with the kind that has it. */
export function worstKind(
  errors: readonly KindError[],
  read: (error: KindError) => number,
): KindError | undefined {
  return errors.reduce<KindError | undefined>(
    (worst, error) => (worst === undefined || read(error) > read(worst) ? error : worst),
    undefined,
  );
}

/** The common rule of thumb: characters divided by four. */
export const charsByFour: Counter = (text) => text.length / 4;

/** A share as percent with one decimal. */
export function percent(share: number): string {
  return (share * 100).toFixed(1);
}

/** The value below which the given share of the values lies. */
function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
