import { RoundfoldError } from '../../conversation/errors.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { Store, StoreRecord } from '../../stores/store.ts';
import { fileSource } from '../../transcripts/input/source.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, reportError, writeJson } from '../report.ts';
import type { RecordCounts } from './export-lines.ts';
import { jsonOption, storeOption } from './options.ts';
import { overStore, type StoreWork } from './over-store.ts';
import { type DamagedLine, readExport } from './read-export.ts';

/** `roundfold store import`: puts an export back. */
export const importRecords: CommandDefinition = {
  name: 'import',
  summary: 'put the records of an export into a store; those that are there already stay as they are',
  arguments: '<file>',
  argumentHelp: 'what `roundfold store export` wrote; `-` reads standard input',
  options: [storeOption, jsonOption],
  examples: [
    ['roundfold store import backup.jsonl', 'all of it, or nothing when a line is damaged'],
    ['roundfold store export | roundfold store import - --store postgres://host/db', 'from one to another'],
  ],
  run: (given, terminal) => overStore(given, terminal, run),
};

/** Records that are put back in one transaction, and their bytes. */
const BATCH_RECORDS = 100;
const BATCH_BYTES = 8_000_000;

async function run({ given, report, access }: StoreWork): Promise<ExitCode> {
  const source = await fileSource(given.positional[0] ?? '-');
  // Everything is checked before anything is stored. What can be opened again needs no room until then.
  const held: StoreRecord[] | undefined = source.sizeBytes === undefined ? [] : undefined;
  const damaged: DamagedLine[] = [];
  let counts: RecordCounts = { checkpoints: 0, spans: 0 };
  for await (const found of readExport(source)) {
    if ('fault' in found) damaged.push(found);
    else if ('counts' in found) counts = found.counts;
    else held?.push(found.record);
  }
  if (damaged.length > 0) return sayDamage(report, source.name, damaged);
  const store = access.forWriting();
  const before = await countRecords(store);
  await restoreAll(store, held ?? recordsOf(source));
  sayImported(report, counts, Math.max(0, (await countRecords(store)) - before));
  return exitCodes.done;
}

async function* recordsOf(source: Parameters<typeof readExport>[0]): AsyncGenerator<StoreRecord> {
  for await (const found of readExport(source)) {
    if ('record' in found) yield found.record;
    if ('fault' in found) {
      throw new RoundfoldError('input-not-understood', 'the file was changed while it was read', {
        place: { source: source.name, line: found.line },
        remedy: 'Run it again: what is stored already stays as it is.',
      });
    }
  }
}

async function restoreAll(
  store: Store,
  records: Iterable<StoreRecord> | AsyncIterable<StoreRecord>,
): Promise<void> {
  let batch: StoreRecord[] = [];
  let bytes = 0;
  for await (const record of records) {
    batch.push(record);
    bytes += 'span' in record ? record.span.body.length : 0;
    if (batch.length < BATCH_RECORDS && bytes < BATCH_BYTES) continue;
    await store.restore(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await store.restore(batch);
}

async function countRecords(store: Store): Promise<number> {
  return (await store.list()).reduce((sum, { checkpoints, spans }) => sum + checkpoints + spans, 0);
}

function sayImported(report: Report, counts: RecordCounts, added: number): void {
  if (report.json) {
    writeJson(report, 'import', { ...counts, added });
    return;
  }
  const read = `${countOf(counts.checkpoints, 'checkpoint')} and ${countOf(counts.spans, 'span')}`;
  report.terminal.out(`imported ${read}; ${formatCount(added)} of them were new\n`);
}

/** Damaged lines that are told one by one. */
const SHOWN = 10;

function sayDamage(report: Report, source: string, damaged: readonly DamagedLine[]): ExitCode {
  const rest = damaged.length - SHOWN;
  for (const [index, { line, message, remedy }] of damaged.slice(0, SHOWN).entries()) {
    const isLast = index === Math.min(damaged.length, SHOWN) - 1;
    const more = rest > 0 ? `${countOf(rest, 'further line')} cannot be read. ` : '';
    reportError(report, {
      code: 'input-not-understood',
      message,
      place: { source, line },
      ...(isLast ? { remedy: `${more}Nothing was stored. ${remedy}` } : {}),
    });
  }
  return exitCodes.inputNotUnderstood;
}
