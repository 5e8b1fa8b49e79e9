import type { GivenArguments } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, reportError } from '../report.ts';
import type { Terminal } from '../terminal.ts';
import type { StoreAccess } from './access.ts';
import { faultError } from './fault-error.ts';

/** What a command over a store works with. */
export interface StoreWork {
  readonly given: GivenArguments;
  readonly report: Report;
  readonly access: StoreAccess;
}

/**
 * Does work over the store that was named, and closes it. Records that could not be served are told, and the command has
 * failed then, whatever else it did.
 */
export async function overStore(
  given: GivenArguments,
  terminal: Terminal,
  work: (work: StoreWork) => Promise<ExitCode>,
): Promise<ExitCode> {
  const report = { terminal, json: given.flag('json') };
  let access: StoreAccess | undefined;
  try {
    // Loaded here, so that help and commands without a store do without.
    const { openAccess } = await import('./access.ts');
    access = openAccess(given.text('store'), process.env);
    const code = await work({ given, report, access });
    const faults = access.takeFaults();
    if (faults.length === 0) return code;
    reportError(report, faultError(faults));
    return exitCodes.failed;
  } finally {
    await access?.close();
  }
}

/** Says that there is nothing to read, where that is no failure. */
export function sayNothingStored({ report, access }: StoreWork): ExitCode {
  report.terminal.talk(`nothing is stored yet: there is no ${access.name}\n`);
  return exitCodes.done;
}
