import { RoundfoldError } from '../../conversation/errors.ts';
import { countOf } from '../../report/terminal.ts';
import type { ArchivedSpan, Checkpoint, Store, StoredConversation, StoreRecord } from '../../stores/store.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interruption.ts';
import { forceOption } from '../output-files.ts';
import { writeJson } from '../report.ts';
import { createExportWriter, type RecordCounts } from './export-lines.ts';
import { refuseFaults } from './fault-error.ts';
import { type LineSink, privateFileSink, standardOutputSink } from './line-sink.ts';
import { jsonOption, storeOption, tenantOption } from './options.ts';
import { overStore, type StoreWork } from './over-store.ts';

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
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run({ given, report, access }: StoreWork): Promise<ExitCode> {
  const store = access.forReading();
  if (store === undefined) {
    throw new RoundfoldError('store', `there is no ${access.name} to export from`, {
      remedy: 'Name the store with --store.',
    });
  }
  const [file] = given.positional;
  const isToFile = file !== undefined && file !== '-';
  const sink = isToFile
    ? privateFileSink(file, { kind: 'export', isForced: given.flag('force') })
    : standardOutputSink();
  const { value: counts, stoppedWith } = await untilInterrupted((signal) =>
    writeAll(store, {
      sink,
      tenant: given.text('tenant'),
      signal,
      // A copy that lacks something must not take the place of an older one. What goes to a pipe has gone already.
      finish: () => (isToFile ? refuseFaults(access) : undefined),
    }),
  );
  if (counts === undefined) return stoppedWith ?? exitCodes.failed;
  if (report.json && isToFile) writeJson(report, 'export', { file, ...counts });
  else {
    const { checkpoints, spans } = counts;
    report.terminal.talk(`exported ${countOf(checkpoints, 'checkpoint')} and ${countOf(spans, 'span')}\n`);
  }
  return exitCodes.done;
}

interface Writing {
  readonly sink: LineSink;
  readonly tenant: string | undefined;
  readonly signal: AbortSignal;
  /** May refuse to make it last. */
  readonly finish: () => void;
}

/** Undefined when it was stopped. */
async function writeAll(
  store: Store,
  { sink, tenant, signal, finish }: Writing,
): Promise<RecordCounts | undefined> {
  const writer = createExportWriter();
  try {
    await sink.write(writer.first());
    for await (const record of recordsOf(store, tenant)) {
      if (signal.aborted) {
        sink.abandon();
        return undefined;
      }
      await sink.write(writer.record(record));
    }
    await sink.write(writer.last());
    finish();
    sink.finish();
    return writer.counts;
  } catch (error) {
    sink.abandon();
    throw error;
  }
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
  return values.toSorted((left, right) => compare(orderOf(left), orderOf(right)));
}

function compare(left: Order, right: Order): number {
  for (const [index, one] of left.entries()) {
    const other = right[index] ?? '';
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
