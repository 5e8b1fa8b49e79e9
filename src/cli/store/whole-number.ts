import { RoundfoldError } from '../../conversation/errors.ts';
import type { GivenArguments } from '../command.ts';

/**
 * The number behind an option, or undefined when it was not given. Digits may be grouped: `10_000`.
 * @param option as it stands on the command line, without the dashes
 * @throws `usage` when it is no whole number of at least `least`
 */
export function readWholeNumber(given: GivenArguments, option: string, least: number): number | undefined {
  const text = given.text(option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
  if (text === undefined) return undefined;
  const value = /^\d[\d_]{0,19}$/.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RoundfoldError(
    'usage',
    `--${option} takes a whole number, not ${JSON.stringify(text.slice(0, 40))}`,
    { remedy: `Give a number from ${least} on.` },
  );
}
