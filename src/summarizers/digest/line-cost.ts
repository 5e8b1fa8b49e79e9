import { classOf, DIGIT, LOWER, UPPER } from './characters.ts';
import { readUnits, units } from './line-units.ts';

const SPACE = 32;
/** Scripts from here on take about a token for each character. */
const FIRST_DENSE_UNIT = 0x2e80;
const PER_LINE = 1.3;
const PER_CHARACTER = 0.183;
const PER_DIGIT = 0.57;
const PER_SIGN = 0.42;
const PER_DENSE = 0.6;

/** What each unit of ASCII costs beside its share of the length. */
const costs = Float64Array.from({ length: 128 }, (_, unit) => costByClass(unit));

/** What a unit costs beside its share of the length of its line. */
export function costOfUnit(unit: number): number {
  return unit < costs.length ? (costs[unit] ?? 0) : costByClass(unit);
}

function costByClass(unit: number): number {
  if (unit >= FIRST_DENSE_UNIT) return PER_DENSE;
  const kind = classOf(unit);
  if (kind === DIGIT) return PER_DIGIT;
  return kind === LOWER || kind === UPPER || unit === SPACE ? 0 : PER_SIGN;
}

/**
 * About how many tokens a line takes with its newline. Fitted to the token estimator by least squares (mean error 1.5
 * tokens of 15) and several times as fast; what is shown in the end is counted by the estimator itself.
 */
export function lineCost(text: string): number {
  const read = readUnits(text);
  const first = behindIndent(0, read);
  const cost = withUnits(baseCost(first, read), first, read);
  return read === text.length ? cost : (cost * text.length) / read;
}

/** Where a line of `units` begins behind its indentation, which takes a token or two, however deep it is. */
export function behindIndent(start: number, end: number): number {
  let index = start;
  while (index < end && (units[index] ?? 0) <= SPACE) index++;
  return index;
}

/** What a line of `units` without indentation costs by its length alone. */
export function baseCost(start: number, end: number): number {
  return PER_LINE + PER_CHARACTER * (end - start);
}

/** This cost and that of the units of a stretch, one after the other. Letters of ASCII cost nothing. */
export function withUnits(cost: number, start: number, end: number): number {
  let sum = cost;
  for (let index = start; index < end; index++) {
    const more = costOfUnit(units[index] ?? 0);
    if (more > 0) sum += more;
  }
  return sum;
}
