import { RoundfoldError } from '../conversation/errors.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Report } from './output.ts';

/** An option of a command, as data: help, completion and parsing come from it. */
export interface OptionDefinition {
  /** In commander's notation: `--model <name>`, `-j, --json`. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly isList?: boolean;
}

/** The option of every command that can answer to a program. */
export const jsonOption: OptionDefinition = {
  flags: '-j, --json',
  help: 'one JSON object per line on standard output',
};

/** A command of the CLI. Adding one is one file and one line in the registry. */
export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments in commander's notation; `<file...>` for those that read files; none when left out. */
  readonly arguments?: string;
  readonly argumentHelp?: string;
  /** Whether the arguments are a command line of its own: from its first word on, nothing is an option of ours. */
  readonly takesCommandLine?: boolean;
  readonly options: readonly OptionDefinition[];
  /** Example calls with what each is for. */
  readonly examples: readonly (readonly [call: string, purpose: string])[];
  /** Further help, below the examples; made only when somebody asks for it. */
  details?(): string;
  run(given: GivenArguments, report: Report): Promise<ExitCode>;
}

/** Commands under one name: `roundfold store ls`. */
export interface CommandGroup extends Pick<CommandDefinition, 'name' | 'summary' | 'examples' | 'details'> {
  readonly commands: readonly CommandDefinition[];
}

/** What stood on the command line. */
export interface GivenArguments {
  readonly positional: readonly string[];
  text(option: string): string | undefined;
  list(option: string): readonly string[] | undefined;
  flag(option: string): boolean;
}

/**
 * The whole number behind an option, or undefined when it was not given. Digits may be grouped: `10_000`, `10,000`.
 * @param option as it stands on the command line, without the dashes
 * @throws RoundfoldError `usage` when it is no whole number within the bounds
 */
export function readNumber(given: GivenArguments, option: string, bounds: NumberBounds): number | undefined {
  const { from, to = Number.MAX_SAFE_INTEGER, remedy } = bounds;
  const text = given.text(inCamelCase(option));
  if (text === undefined) return undefined;
  const value = /^\d[\d_,]{0,19}$/.test(text) ? Number(text.replaceAll(/[_,]/g, '')) : Number.NaN;
  if (value >= from && value <= to) return value;
  const range = bounds.to === undefined ? `from ${from} on` : `from ${from} to ${to}`;
  const shown = JSON.stringify(text.slice(0, 40));
  throw new RoundfoldError('usage', `--${option} takes a whole number ${range}, not ${shown}`, { remedy });
}

interface NumberBounds {
  readonly from: number;
  readonly to?: number;
  /** What to do about a wrong one, where that is not plain from the bounds. */
  readonly remedy?: string;
}

const UNITS = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/**
 * The duration behind an option in milliseconds, or undefined when it was not given.
 * @param option as it stands on the command line, without the dashes
 * @throws RoundfoldError `usage` when it is no whole number with a unit
 */
export function readDuration(given: GivenArguments, option: string): number | undefined {
  const text = given.text(inCamelCase(option));
  if (text === undefined) return undefined;
  const [, number = '', unit = ''] = /^(\d{1,9})([a-z])$/i.exec(text) ?? [];
  const milliseconds = Number(number) * (UNITS.get(unit.toLowerCase()) ?? Number.NaN);
  if (number !== '' && Number.isFinite(milliseconds)) return milliseconds;
  const shown = JSON.stringify(text.slice(0, 40));
  throw new RoundfoldError('usage', `--${option} takes a number with a unit, not ${shown}`, {
    remedy: 'Say minutes, hours, days or weeks: 45m, 12h, 30d, 2w.',
  });
}

function inCamelCase(option: string): string {
  return option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
