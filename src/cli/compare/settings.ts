import { availableParallelism } from 'node:os';
import { RoundfoldError } from '../../conversation/errors.ts';
import { labStrategies } from '../../lab/lab-rows.ts';
import type { GivenArguments } from '../command.ts';
import { readModel } from '../compact/request.ts';
import { nearest } from '../nearest.ts';

/** What is compared, and how. Plain data: it goes to the threads. */
export interface CompareSettings {
  readonly strategies: readonly string[];
  /** Percent of the tokens that may be left, largest first. */
  readonly budgets: readonly number[];
  /** Cuts of each stretch of a session. */
  readonly cuts: number;
  /** Undefined: what each file says. */
  readonly model: string | undefined;
  readonly format: string | undefined;
  readonly reader: string | undefined;
  /** Whether charts are wanted: curves of tokens and an example of a receipt. */
  readonly wantsPage: boolean;
}

/** The default, what several agents do by themselves, and a summary alone. */
export const defaultStrategies: readonly string[] = [
  'ladder',
  'clear-tool-results',
  'sliding-window',
  'summarize',
];
export const defaultBudgets: readonly number[] = [50, 30, 20, 10];
export const DEFAULT_CUTS = 5;

/**
 * The settings of a command line.
 * @throws RoundfoldError `usage` for anything that makes no sense
 */
export function readSettings(given: GivenArguments): CompareSettings {
  return {
    strategies: readStrategies(given.text('strategies')),
    budgets: readBudgets(given.text('budgets')),
    cuts: readCount(given, 'cuts', { otherwise: DEFAULT_CUTS, most: 100 }),
    model: readModel(given, undefined),
    format: given.text('format'),
    reader: given.text('reader'),
    wantsPage: given.text('html') !== undefined,
  };
}

/** How many threads work at the same time. */
export function readJobs(given: GivenArguments): number {
  return readCount(given, 'jobs', { otherwise: availableParallelism(), most: 256 });
}

function readStrategies(text: string | undefined): readonly string[] {
  if (text === undefined) return defaultStrategies;
  const names = [...new Set(partsOf(text))];
  const unknown = names.find((name) => !labStrategies.includes(name));
  if (unknown === undefined && names.length > 0) return names;
  const meant = unknown === undefined ? undefined : nearest(unknown, labStrategies);
  throw new RoundfoldError('usage', `--strategies has no ${JSON.stringify(unknown ?? text)}`, {
    remedy: `${meant === undefined ? '' : `Did you mean ${meant}? `}Known: ${labStrategies.join(', ')}.`,
  });
}

function readBudgets(text: string | undefined): readonly number[] {
  if (text === undefined) return defaultBudgets;
  const numbers = partsOf(text).map((part) => Number(part.replace(/\s?%$/, '')));
  if (numbers.length > 0 && numbers.every((number) => number > 0 && number < 100))
    return [...new Set(numbers)].toSorted((left, right) => right - left);
  throw new RoundfoldError('usage', `--budgets wants percents, not ${JSON.stringify(text)}`, {
    remedy: 'For example --budgets 10,20,30,50: shares of the tokens that may be left.',
  });
}

function readCount(
  given: GivenArguments,
  option: string,
  { otherwise, most }: { readonly otherwise: number; readonly most: number },
): number {
  const text = given.text(option);
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new RoundfoldError(
    'usage',
    `--${option} wants a whole number from 1 to ${most}, not ${JSON.stringify(text)}`,
  );
}

function partsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
