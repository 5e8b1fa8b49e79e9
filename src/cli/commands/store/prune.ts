import { RoundfoldError } from '../../../conversation/errors.ts';
import { countOf, formatBytes } from '../../../report/terminal.ts';
import type { Retention, StoredConversation } from '../../../stores/store.ts';
import {
  type CommandDefinition,
  type GivenArguments,
  jsonOption,
  readDuration,
  readNumber,
} from '../../command.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Report, writeJson } from '../../output.ts';
import { countRecords, overStore, type StoreWork, sayNothingStored, storeOption } from '../../store.ts';
import { printConversations } from './listing.ts';

/** `roundfold store prune`: removes what nobody uses. */
export const prune: CommandDefinition = {
  name: 'prune',
  summary: 'remove conversations that were not used for long, or that are too many',
  options: [
    { flags: '--older-than <duration>', help: 'remove what was not used for so long: 30d, 12h, 45m, 2w' },
    { flags: '--max-bytes <number>', help: 'remove the least recently used until the rest has no more' },
    { flags: '--dry-run', help: 'show what would be removed and remove nothing' },
    storeOption,
    jsonOption,
  ],
  examples: [
    ['roundfold store prune --older-than 30d --dry-run', 'look first'],
    ['roundfold store prune --older-than 30d --max-bytes 1_000_000_000', 'a month, and a gigabyte at most'],
  ],
  run: (given, report) => overStore(given, report, runPrune),
};

async function runPrune(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const retention = readRetention(given);
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  if (given.flag('dryRun')) return preview(report, await store.list(), retention);
  const records = await store.collect(retention);
  if (report.json) writeJson(report, 'pruned', { isDryRun: false, records });
  else report.terminal.out(`removed ${countOf(records, 'record')}\n`);
  return exitCodes.done;
}

function readRetention(given: GivenArguments): Retention {
  const unusedMilliseconds = readDuration(given, 'older-than');
  const maximumBytes = readNumber(given, 'max-bytes', { from: 0 });
  if (unusedMilliseconds === undefined && maximumBytes === undefined) {
    throw new RoundfoldError('usage', 'nothing says what may go', {
      remedy: 'Give --older-than, --max-bytes or both.',
    });
  }
  return { unusedMilliseconds, maximumBytes };
}

async function preview(
  report: Report,
  listed: readonly StoredConversation[],
  retention: Retention,
): Promise<ExitCode> {
  const { conversationsToCollect } = await import('../../../stores/rules.ts');
  const leaving = conversationsToCollect(listed, retention, Date.now());
  const records = countRecords(leaving);
  const bytes = leaving.reduce((sum, one) => sum + one.bytes, 0);
  if (leaving.length > 0) printConversations(report, leaving);
  if (report.json) {
    writeJson(report, 'pruned', { isDryRun: true, records, conversations: leaving.length, bytes });
  } else {
    const what = `${countOf(records, 'record')} of ${countOf(leaving.length, 'conversation')}`;
    report.terminal.out(`would remove ${what}, ${formatBytes(bytes)}\n`);
  }
  return exitCodes.done;
}
