/** Offers lines of tool results, as units of the piece that tells the call. */

import { flattenJson, type Row } from '../records.ts';
import { type TellingKind, tellingLines } from '../telling.ts';
import { WORTH } from '../weights.ts';
import type { Unit } from './piece.ts';

/** What lines of a result are worth. */
export interface ResultTerms {
  /** Factor for every worth below. */
  readonly scale: number;
  readonly plain: number;
  readonly error: number;
  /** A row of a short answer in fields, whatever the scale. */
  readonly record: number;
  /** The arguments of the call: a field of the result that repeats them says nothing new. */
  readonly asked?: string;
  /** How many units the piece has already, in front of these lines. */
  readonly from?: number;
}

/** Offers the lines of a result that may tell something. Each needs the first unit of its piece: what was done. */
export function offerResult(
  text: string,
  { scale, plain, error, record, asked = '', from = 1 }: ResultTerms,
): readonly Unit[] {
  const worths: Readonly<Record<TellingKind, number>> = {
    error,
    sum: WORTH.sum,
    reference: WORTH.reference,
    rule: WORTH.rule,
    prose: WORTH.prose,
    edge: WORTH.edge,
    plain,
  };
  const isNew = (field: string) => !asked.includes(field);
  const rows = flattenJson(text)
    ?.map((row) => row.filter(isNew))
    .filter((row) => row.length > 0);
  // A short answer in fields is what was asked for; a long one is everything that the server knows.
  const share = Math.min(1, SHORT_RECORD / text.length);
  if (rows !== undefined) return offerRows(rows, Math.max(plain * scale, record * share), from);
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

/** Field by field: an id, a date or an amount costs little, and the rest of its record may be of no use. */
function offerRows(rows: readonly Row[], worth: number, from: number): readonly Unit[] {
  const units: Unit[] = [];
  for (const [first = '', ...rest] of rows) {
    const needs = from + units.length;
    units.push({ text: first, worth, startsLine: true, needs: 0 });
    for (const field of rest) units.push({ text: `, ${field}`, worth, startsLine: false, needs });
  }
  return units;
}

const SHAPE_LENGTH = 6;
const SHORT_RECORD = 1200;
