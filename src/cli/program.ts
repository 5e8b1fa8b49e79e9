import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { RoundfoldError } from '../conversation/errors.ts';
import { nearest } from '../conversation/nearest.ts';
import { transcriptReaders } from '../transcripts/registry.ts';
import type { CommandDefinition, CommandGroup, GivenArguments, OptionDefinition } from './command.ts';
import { commands as allCommands } from './commands/registry.ts';
import { EXIT_CODE_TEXT, type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { unwritable } from './files.ts';
import { separateCommandLine } from './foreign-command-line.ts';
import { type Report, reportError } from './output.ts';
import { processTerminal, shown, wrapText } from './terminal.ts';
import { readVersion } from './version.ts';

/** Runs what the command line asks for. The answer is what the process ends with. */
export async function runCommand(argv: readonly string[]): Promise<ExitCode> {
  watchOutput();
  let code: ExitCode = exitCodes.done;
  const program = createProgram(allCommands, readVersion(), (ended) => {
    code = ended;
  });
  try {
    if (argv.length <= 2) program.outputHelp();
    else await program.parseAsync([...separateCommandLine(argv, allCommands)]);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOfCommander(error.code);
    if (!RoundfoldError.is(error)) throw error;
    reportError(plainReport(), error);
    return exitCodeOf(error);
  }
}

/** A reader that closes the pipe early (`| head`) is no failure. */
function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done);
    reportError(plainReport(), unwritable('standard output', error));
    process.exit(exitCodes.failed);
  });
}

/** For errors outside of any command, of whose options nothing is known. */
function plainReport(): Report {
  return { terminal: processTerminal({ color: true, quiet: false }), json: false };
}

/** Builds the command line from the list of commands. `onEnd` gets what the chosen command ended with. */
export function createProgram(
  commands: readonly (CommandDefinition | CommandGroup)[],
  version: string,
  onEnd: (code: ExitCode) => void,
): Command {
  const program = new Command('roundfold')
    .description('Keeps long LLM conversations inside the context window.')
    .version(version, '-V, --version')
    .option('--no-color', 'plain text (also: NO_COLOR)')
    .option('-q, --quiet', 'say nothing but data and the exit code')
    .addHelpText('after', HELP_FOOTER)
    .showHelpAfterError('(add --help for what there is)')
    .configureOutput(output)
    .exitOverride();
  for (const definition of commands) program.addCommand(toCommand(definition, program, onEnd));
  // `completion <shell>` prints a script for bash, zsh, fish or PowerShell.
  tab(program, { completionCommandName: 'completion' });
  return program;
}

/** Errors repeat the wrong word, which a shell may have taken from the name of a file: it must be printable. */
const output = { writeErr: (text: string) => void process.stderr.write(shown(text)) };

/** Help is wrapped for the narrowest usual terminal, and so are errors. */
const COLUMNS = 80;

const products = transcriptReaders(() => undefined).flatMap(({ product }) => product ?? []);
const FILES = `Files: those of ${products.slice(0, -1).join(', ')} and ${products.at(-1)}; request bodies, \
lists of messages and logs of requests; JSON or JSONL, gzip or zstd too; \`-\` is standard input.`;

const HELP_FOOTER = `
${wrapText(FILES, COLUMNS, '')}

${EXIT_CODE_TEXT}
`;

function toCommand(
  definition: CommandDefinition | CommandGroup,
  program: Command,
  onEnd: (code: ExitCode) => void,
): Command {
  const command = new Command(definition.name)
    .description(definition.summary)
    .addHelpText('after', () => furtherHelp(definition))
    .showHelpAfterError('(add --help for what there is)')
    .configureOutput(output)
    .exitOverride();
  if ('commands' in definition) {
    for (const one of definition.commands) command.addCommand(toCommand(one, program, onEnd));
    return command;
  }
  if (definition.arguments !== undefined) command.argument(definition.arguments, definition.argumentHelp);
  for (const option of definition.options) command.addOption(toOption(option));
  return command.action(async (...given: unknown[]) => {
    const terminal = processTerminal({
      color: program.opts()['color'] !== false,
      quiet: program.opts()['quiet'] === true,
    });
    const positional = definition.arguments === undefined ? [] : positionalOf(given[0]);
    const read = readGiven(positional, command.opts());
    onEnd(await runReported(definition, read, { terminal, json: read.flag('json') }));
  });
}

/** What a command ends with. Errors of ours are told here, in the shape that was asked for: commands just throw them. */
async function runReported(
  definition: CommandDefinition,
  given: GivenArguments,
  report: Report,
): Promise<ExitCode> {
  try {
    return await definition.run(given, report);
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    reportError(report, error);
    return exitCodeOf(error);
  }
}

/** Empty when an optional argument was left out. */
function positionalOf(given: unknown): readonly string[] {
  return given === undefined ? [] : [given].flat().map(String);
}

function toOption({ flags, help, choices, isList }: OptionDefinition): Option {
  const option = new Option(flags, help);
  if (choices !== undefined) option.choices([...choices]);
  if (choices === undefined && isList !== true) return option;
  const check = (value: string): string => (choices === undefined ? value : checkChoice(value, choices));
  if (isList !== true) return option.argParser(check);
  return option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), check(value)]);
}

function checkChoice(value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  const meant = nearest(value, choices);
  const question = meant === undefined ? '' : `\n  Did you mean ${meant}?`;
  const allowed = wrapText(`Allowed choices are ${choices.join(', ')}.`, COLUMNS, '  ');
  throw new InvalidArgumentError(`${question}\n  ${allowed}`);
}

function furtherHelp({ examples, details }: Pick<CommandDefinition, 'examples' | 'details'>): string {
  const calls = examples.map(([call, purpose]) => `  ${call}\n      ${purpose}\n`);
  const shownCalls = calls.length === 0 ? '' : `\nExamples:\n${calls.join('')}`;
  return `${shownCalls}${details === undefined ? '' : `\n${details()}`}`;
}

function readGiven(
  positional: readonly string[],
  options: Readonly<Record<string, unknown>>,
): GivenArguments {
  return {
    positional,
    text: (name) => (typeof options[name] === 'string' ? options[name] : undefined),
    list: (name) => (Array.isArray(options[name]) ? options[name].map(String) : undefined),
    flag: (name) => options[name] === true,
  };
}

/** Commander's own endings: help and version are done, everything else is a wrong command line. */
function exitCodeOfCommander(code: string): ExitCode {
  const isAnswer =
    code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version';
  return isAnswer ? exitCodes.done : exitCodes.usage;
}
