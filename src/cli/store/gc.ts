import { RoundfoldError } from '../../conversation/errors.ts';
import { countOf } from '../../report/terminal.ts';
import type { Retention } from '../../stores/store.ts';
import type { CommandDefinition, GivenArguments } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeJson } from '../report.ts';
import { printConversations } from './ls.ts';
import { jsonOption, storeOption } from './options.ts';
import { overStore, type StoreWork, sayNothingStored } from './over-store.ts';
import { formatBytes } from './short-forms.ts';
import { readWholeNumber } from './whole-number.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** `roundfold store gc`: removes what nobody uses. */
export const collect: CommandDefinition = {
  name: 'gc',
  summary: 'remove conversations that were not used for long, or that are too many',
  options: [
    { flags: '--unused-days <number>', help: 'remove what was not used for so many days' },
    { flags: '--max-bytes <number>', help: 'remove the least recently used until the rest has no more' },
    { flags: '--dry-run', help: 'show what would be removed and remove nothing' },
    storeOption,
    jsonOption,
  ],
  examples: [
    ['roundfold store gc --unused-days 30 --dry-run', 'look first'],
    ['roundfold store gc --unused-days 30 --max-bytes 1_000_000_000', 'a month, and a gigabyte at most'],
  ],
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const retention = readRetention(given);
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  if (given.flag('dryRun')) return preview(work, retention);
  const records = await store.collect(retention);
  if (report.json) writeJson(report, 'collection', { isDryRun: false, records });
  else report.terminal.out(`removed ${countOf(records, 'record')}\n`);
  return exitCodes.done;
}

function readRetention(given: GivenArguments): Retention {
  const days = readWholeNumber(given, 'unused-days', 0);
  const maximumBytes = readWholeNumber(given, 'max-bytes', 0);
  if (days === undefined && maximumBytes === undefined) {
    throw new RoundfoldError('usage', 'nothing says what may go', {
      remedy: 'Give --unused-days, --max-bytes or both.',
    });
  }
  return { unusedMilliseconds: days === undefined ? undefined : days * DAY_MS, maximumBytes };
}

async function preview({ report, access }: StoreWork, retention: Retention): Promise<ExitCode> {
  const { conversationsToCollect } = await import('../../stores/rules.ts');
  const listed = (await access.forReading()?.list()) ?? [];
  const leaving = conversationsToCollect(listed, retention, Date.now());
  const records = leaving.reduce((sum, { checkpoints, spans }) => sum + checkpoints + spans, 0);
  const bytes = leaving.reduce((sum, one) => sum + one.bytes, 0);
  if (leaving.length > 0) printConversations(report, leaving);
  if (report.json) {
    writeJson(report, 'collection', { isDryRun: true, records, conversations: leaving.length, bytes });
  } else {
    const what = `${countOf(records, 'record')} of ${countOf(leaving.length, 'conversation')}`;
    report.terminal.out(`would remove ${what}, ${formatBytes(bytes)}\n`);
  }
  return exitCodes.done;
}
