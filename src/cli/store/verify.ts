import { printable } from '../../conversation/printable.ts';
import { countOf } from '../../report/terminal.ts';
import type { StoreFault } from '../../stores/store.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, sayRemedy, writeJson } from '../report.ts';
import { faultError } from './fault-error.ts';
import { jsonOption, storeOption } from './options.ts';
import { overStore, type StoreWork, sayNothingStored } from './over-store.ts';

/** `roundfold store verify`: reads every record. */
export const verify: CommandDefinition = {
  name: 'verify',
  summary: 'read every record and list those that cannot be served',
  options: [storeOption, jsonOption],
  examples: [['roundfold store verify', 'ends with 1 when something is wrong']],
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run(work: StoreWork): Promise<ExitCode> {
  const { report, access } = work;
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  const faults = await store.verify();
  const records = (await store.list()).reduce((sum, { checkpoints, spans }) => sum + checkpoints + spans, 0);
  for (const fault of faults) printFault(report, fault);
  if (report.json) writeJson(report, 'verification', { records, faults: faults.length });
  else sayVerdict(report, records, faults);
  return faults.length === 0 ? exitCodes.done : exitCodes.failed;
}

function printFault(report: Report, fault: StoreFault): void {
  if (report.json) {
    writeJson(report, 'fault', fault);
    return;
  }
  const { terminal } = report;
  const { kind, tenant, name, reason } = fault;
  terminal.out(
    `${terminal.style('red', reason)} ${kind} ${printable(name)} of tenant ${printable(tenant)}\n`,
  );
}

function sayVerdict({ terminal }: Report, records: number, faults: readonly StoreFault[]): void {
  if (faults.length === 0) {
    terminal.out(`${terminal.style('green', 'sound')} ${countOf(records, 'record')}\n`);
    return;
  }
  terminal.out(`${countOf(faults.length, 'fault')} in ${countOf(records, 'record')}\n`);
  const { remedy } = faultError(faults);
  if (remedy !== undefined) sayRemedy(terminal, remedy);
}
