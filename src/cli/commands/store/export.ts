import { once } from 'node:events';
import { RoundfoldError } from '../../../conversation/errors.ts';
import { countOf, formatCount } from '../../../report/terminal.ts';
import type {
  ArchivedSpan,
  Checkpoint,
  Store,
  StoredConversation,
  StoreRecord,
} from '../../../stores/store.ts';
import type { ByteSource } from '../../../transcripts/input/source.ts';
import { type CommandDefinition, jsonOption } from '../../command.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { createExportWriter, type DamagedLine, type RecordCounts, readExport } from '../../export-format.ts';
import { forceOption, openPrivateFile } from '../../files.ts';
import { untilInterrupted } from '../../interruption.ts';
import { type Report, reportError, writeJson } from '../../output.ts';
import {
  countRecords,
  overStore,
  refuseFaults,
  type StoreWork,
  storeOption,
  tenantOption,
} from '../../store.ts';

/** `roundfold store export`: every record as a line of JSON. */
export const exportRecords: CommandDefinition = {
  name: 'export',
  summary: 'write every record as a line of JSON, with checksums; sealed records are written open',
  arguments: '[file]',
  argumentHelp: 'for its owner alone; default: standard output',
  options: [tenantOption, storeOption, forceOption, jsonOption],
  examples: [
    ['roundfold store export backup.jsonl', 'a copy of everything'],
    ['roundfold store export | gzip > backup.jsonl.gz', 'a small one'],
  ],
  run: (given, report) => overStore(given, report, runExport),
};

async function runExport({ given, report, access }: StoreWork): Promise<ExitCode> {
  const store = access.forReading();
  if (store === undefined) {
    throw new RoundfoldError('store', `there is no ${access.name} to export from`, {
      remedy: 'Name the store with --store.',
    });
  }
  const [file] = given.positional;
  const isToFile = file !== undefined && file !== '-';
  const sink = isToFile
    ? openPrivateFile(file, { kind: 'export', isForced: given.flag('force') })
    : standardOutput;
  const { value: counts, stoppedWith } = await untilInterrupted(async (signal) => {
    try {
      const written = await writeAll(store, { tenant: given.text('tenant'), sink, signal });
      // A copy that lacks something must not take the place of an older one. What goes to a pipe has gone already.
      if (written !== undefined && isToFile) refuseFaults(access);
      if (written === undefined) sink.abandon();
      else sink.finish();
      return written;
    } catch (error) {
      sink.abandon();
      throw error;
    }
  });
  if (counts === undefined) return stoppedWith ?? exitCodes.failed;
  const { checkpoints, spans } = counts;
  if (report.json && isToFile) writeJson(report, 'export', { file, ...counts });
  else report.terminal.talk(`exported ${countOf(checkpoints, 'checkpoint')} and ${countOf(spans, 'span')}\n`);
  return exitCodes.done;
}

/** Where the lines of an export go: a file, or standard output. */
interface Sink {
  /** Settles when there is room for more. */
  write(line: string): Promise<void> | void;
  finish(): void;
  abandon(): void;
}

/** Waits whenever the reader of the pipe is slower than the store. */
const standardOutput: Sink = {
  async write(line) {
    if (!process.stdout.write(line)) await once(process.stdout, 'drain');
  },
  finish: () => undefined,
  abandon: () => undefined,
};

/** Undefined when it was stopped. */
async function writeAll(
  store: Store,
  {
    tenant,
    sink,
    signal,
  }: { readonly tenant: string | undefined; readonly sink: Sink; readonly signal: AbortSignal },
): Promise<RecordCounts | undefined> {
  const writer = createExportWriter();
  await sink.write(writer.first());
  for await (const record of recordsOf(store, tenant)) {
    if (signal.aborted) return undefined;
    await sink.write(writer.record(record));
  }
  await sink.write(writer.last());
  return writer.counts();
}

/** In an order that depends on nothing but the records, so that the same records are the same bytes. */
async function* recordsOf(store: Store, tenant: string | undefined): AsyncGenerator<StoreRecord> {
  const conversations = await store.list({ tenant });
  for (const key of sorted(conversations, conversationOrder)) {
    for (const checkpoint of sorted(await store.checkpoints(key), checkpointOrder)) yield { checkpoint };
    for (const span of sorted(await store.spans(key), spanOrder)) yield { span };
  }
}

type Order = readonly (string | number)[];

const conversationOrder = ({ tenant, conversation }: StoredConversation): Order => [tenant, conversation];
const checkpointOrder = ({ boundary, configuration, chain }: Checkpoint): Order => [
  boundary,
  configuration,
  chain,
];
const spanOrder = ({ start, handle }: ArchivedSpan): Order => [start, handle];

function sorted<Value>(values: readonly Value[], orderOf: (value: Value) => Order): readonly Value[] {
  return values.toSorted((left, right) => compareOrders(orderOf(left), orderOf(right)));
}

function compareOrders(left: Order, right: Order): number {
  for (const [index, one] of left.entries()) {
    const other = right[index] ?? '';
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Whether the source is what `roundfold store export` writes. Standard input can be read only once, so it is taken for one. */
export async function isExport(source: ByteSource): Promise<boolean> {
  if (source.sizeBytes === undefined) return true;
  for await (const chunk of source.open())
    return EXPORT_BEGINNING.test(Buffer.from(chunk.subarray(0, 200)).toString('utf8'));
  return false;
}

const EXPORT_BEGINNING = /^\{"version":\d{1,9},"type":"roundfold-export"/;

/** Puts the records of an export back. */
export async function importExport({ report, access }: StoreWork, source: ByteSource): Promise<ExitCode> {
  // Everything is checked before anything is stored. Only what cannot be opened again is held in memory until then.
  const held: StoreRecord[] | undefined = source.sizeBytes === undefined ? [] : undefined;
  const damaged: DamagedLine[] = [];
  let counts: RecordCounts = { checkpoints: 0, spans: 0 };
  for await (const found of readSource(source)) {
    if ('damage' in found) damaged.push(found.damage);
    else if ('counts' in found) counts = found.counts;
    else held?.push(found.record);
  }
  if (damaged.length > 0) return sayDamage(report, source.name, damaged);
  const store = access.forWriting();
  const before = countRecords(await store.list());
  const { restoreAll } = await import('../../session-archive.ts');
  await restoreAll(store, held ?? recordsIn(source));
  const added = Math.max(0, countRecords(await store.list()) - before);
  const read = `${countOf(counts.checkpoints, 'checkpoint')} and ${countOf(counts.spans, 'span')}`;
  if (report.json) writeJson(report, 'import', { ...counts, added });
  else report.terminal.out(`imported ${read}; ${formatCount(added)} of them were new\n`);
  return exitCodes.done;
}

async function* readSource(source: ByteSource) {
  const { admitRecords } = await import('../../../stores/records.ts');
  yield* readExport(source.open(), (record) => {
    try {
      admitRecords([record]);
      return true;
    } catch {
      return false;
    }
  });
}

async function* recordsIn(source: ByteSource): AsyncGenerator<StoreRecord> {
  for await (const found of readSource(source)) {
    if ('record' in found) yield found.record;
    if ('damage' in found) {
      throw new RoundfoldError('input-not-understood', 'the file was changed while it was read', {
        place: { source: source.name, line: found.damage.line },
        remedy: 'Run it again: what is stored already stays as it is.',
      });
    }
  }
}

/** How many damaged lines are reported one by one. */
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
