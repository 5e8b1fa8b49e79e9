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
const costs = Float64Array.from({ length: 128 }, (_, unit) => costOfUnit(unit));

function costOfUnit(unit: number): number {
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
  const cost = costOfRead(read);
  return read === text.length ? cost : (cost * text.length) / read;
}

/** The same for the line of so many units that was read last. */
export function costOfRead(length: number): number {
  let index = 0;
  // Indentation takes a token or two, however deep it is.
  while (index < length && (units[index] ?? 0) <= SPACE) index++;
  let cost = PER_LINE + PER_CHARACTER * (length - index);
  for (; index < length; index++) {
    const unit = units[index] ?? 0;
    cost += unit < costs.length ? (costs[unit] ?? 0) : costOfUnit(unit);
  }
  return cost;
}
