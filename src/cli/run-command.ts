import { CommanderError } from 'commander';
import { RoundfoldError } from '../conversation/errors.ts';
import { commands } from './commands/registry.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { createProgram, exitCodeOfCommander } from './program.ts';
import { reportError } from './report.ts';
import { processTerminal } from './terminal.ts';
import { readVersion } from './version.ts';
import { unwritable } from './write-file.ts';

/** Runs what the command line asks for. The answer is what the process ends with. */
export async function runCommand(argv: readonly string[]): Promise<ExitCode> {
  watchOutput();
  let code: ExitCode = exitCodes.done;
  const program = createProgram(commands, readVersion(), (ended) => {
    code = ended;
  });
  try {
    if (argv.length <= 2) program.outputHelp();
    else await program.parseAsync([...argv]);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOfCommander(error.code);
    if (!RoundfoldError.is(error)) throw error;
    reportError({ terminal: processTerminal({ color: true, quiet: false }), json: false }, error);
    return exitCodeOf(error);
  }
}

/** A reader that closes the pipe early (`| head`) is no failure. */
function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done);
    const terminal = processTerminal({ color: true, quiet: false });
    reportError({ terminal, json: false }, unwritable('standard output', error));
    process.exit(exitCodes.failed);
  });
}
