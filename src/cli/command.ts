import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** An option of a command, as data: help, completion and parsing come from it. */
export interface OptionDefinition {
  /** In commander's notation: `--model <name>`, `-j, --json`. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly isList?: boolean;
}

/** A command of the CLI. Adding one is one file and one line in the registry. */
export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments in commander's notation; `<file...>` for those that read files; none when left out. */
  readonly arguments?: string;
  readonly argumentHelp?: string;
  readonly options: readonly OptionDefinition[];
  /** Example calls with what each is for. */
  readonly examples: readonly (readonly [call: string, purpose: string])[];
  /** Further help, below the examples; made only when somebody asks for it. */
  details?(): string;
  run(given: GivenArguments, terminal: Terminal): Promise<ExitCode>;
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
