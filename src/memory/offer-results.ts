import type { Unit } from './piece.ts';
import { flattenJson } from './records.ts';
import { type TellingKind, tellingLines } from './telling.ts';
import { WORTH } from './weights.ts';

/** What lines of a result are worth. */
export interface ResultTerms {
  /** By this all worth is multiplied. */
  readonly scale: number;
  readonly plain: number;
  readonly error: number;
}

/** Offers the lines of a result that may tell something. Each needs the first unit of its piece: what was done. */
export function offerResult(text: string, { scale, plain, error }: ResultTerms): readonly Unit[] {
  const worths: Readonly<Record<TellingKind, number>> = {
    error,
    sum: WORTH.sum,
    reference: WORTH.reference,
    rule: WORTH.rule,
    prose: WORTH.prose,
    edge: WORTH.edge,
    plain,
  };
  const rows = flattenJson(text);
  // A short answer in fields is what was asked for; a long one is everything that the server knows.
  const record = Math.max(plain, WORTH.record * Math.min(1, SHORT_RECORD / text.length));
  if (rows !== undefined)
    return rows.map((row) => ({ text: row, worth: record * scale, startsLine: true, needs: 0 }));
  const seen = new Map<string, number>();
  return tellingLines(text).map(({ text: line, kind }): Unit => {
    // The third line that begins alike says little that is new.
    const shape = `${kind} ${line.trim().slice(0, SHAPE_LENGTH)}`;
    const times = (seen.get(shape) ?? 0) + 1;
    seen.set(shape, times);
    return {
      text: line.trim(),
      worth: (worths[kind] * scale) / Math.max(1, times - 1),
      startsLine: true,
      needs: 0,
    };
  });
}

const SHAPE_LENGTH = 6;
const SHORT_RECORD = 1200;
