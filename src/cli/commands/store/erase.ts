import { RoundfoldError } from '../../../conversation/errors.ts';
import { printable } from '../../../conversation/printable.ts';
import { countOf, formatBytes } from '../../../report/terminal.ts';
import type { StoredConversation } from '../../../stores/store.ts';
import { type CommandDefinition, jsonOption } from '../../command.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Report, sayRemedy, writeJson } from '../../output.ts';
import { countRecords, overStore, type StoreWork, sayNothingStored, storeOption } from '../../store.ts';
import { keyOption, readTenant } from '../../tenant.ts';
import { askToDelete } from './confirm.ts';
import { printConversations } from './listing.ts';

/** `roundfold store erase`: deletes a tenant. */
export const erase: CommandDefinition = {
  name: 'erase',
  summary: 'delete everything of a tenant for good',
  options: [
    { flags: '--tenant <name>', help: 'whose, as `roundfold store ls --json` names them' },
    keyOption,
    { flags: '--dry-run', help: 'show what would be deleted and delete nothing' },
    { flags: '-y, --yes', help: 'do not ask' },
    storeOption,
    jsonOption,
  ],
  examples: [
    ['roundfold store erase --key-stdin --yes < key.txt', 'of whoever uses this key'],
    ['printf %s research | roundfold store erase --key-stdin --dry-run', 'by the value of the tenant header'],
    ['roundfold store erase --tenant local', 'by name; asks before it deletes'],
  ],
  run: (given, report) => overStore(given, report, runErase),
};

async function runErase(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const tenant = await readTenant(given);
  if (tenant === undefined || tenant === '') {
    throw new RoundfoldError('usage', 'nothing says who shall be erased', {
      remedy:
        'Give --key-stdin and the key on standard input, or --tenant and a name of `roundfold store ls --json`.',
    });
  }
  const store = access.forReading();
  if (store === undefined) {
    sayNothingStored(work);
    return exitCodes.failed;
  }
  const listed = await store.list({ tenant });
  if (given.flag('dryRun')) return preview(report, tenant, listed);
  if (listed.length > 0 && !given.flag('yes')) {
    const answer = await askToDelete(`all ${sizesOf(listed)} of tenant ${printable(tenant)}`);
    if (answer !== 'yes') {
      report.terminal.talk('nothing was deleted\n');
      return answer === 'no' ? exitCodes.failed : exitCodes.interrupted;
    }
  }
  const records = await store.erase(tenant);
  const conversations = listed.length;
  if (report.json) writeJson(report, 'erased', { isDryRun: false, tenant, records, conversations });
  else if (records > 0)
    report.terminal.out(`deleted ${countOf(records, 'record')} of tenant ${printable(tenant)}\n`);
  return records > 0 ? exitCodes.done : sayNothingOf(tenant, report);
}

function preview(report: Report, tenant: string, listed: readonly StoredConversation[]): ExitCode {
  if (listed.length > 0) printConversations(report, listed);
  const records = countRecords(listed);
  if (report.json)
    writeJson(report, 'erased', { isDryRun: true, tenant, records, conversations: listed.length });
  else if (records > 0)
    report.terminal.out(`would delete ${sizesOf(listed)} of tenant ${printable(tenant)}\n`);
  return records > 0 ? exitCodes.done : sayNothingOf(tenant, report);
}

/** Most likely another key or name was meant, so a script has to be able to tell. */
function sayNothingOf(tenant: string, { terminal }: Report): ExitCode {
  terminal.talk(`nothing is stored of tenant ${printable(tenant)}\n`);
  sayRemedy(
    terminal,
    'Where the proxy has a tenantHeader, give its value instead of the key. `roundfold store ls --json` names the tenants.',
  );
  return exitCodes.failed;
}

function sizesOf(listed: readonly StoredConversation[]): string {
  const bytes = listed.reduce((sum, one) => sum + one.bytes, 0);
  const what = `${countOf(countRecords(listed), 'record')} in ${countOf(listed.length, 'conversation')}`;
  return `${what} (${formatBytes(bytes)})`;
}
