import { RoundfoldError } from '../../core/errors.ts';
import { printable, printableJson } from '../../core/printable.ts';
import type { ArchivedSpan } from '../../core/store.ts';
import type { CommandDefinition } from '../command.ts';
import { EXIT_CODE_TEXT, type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../report.ts';
import { refuseFaults } from '../store/fault-error.ts';
import { findTenant } from '../store/find-conversation.ts';
import { jsonOption, STORE_TEXT, storeOption, tenantOption } from '../store/options.ts';
import { overStore, type StoreWork } from '../store/over-store.ts';
import { parseMessages, spanText } from '../store/span-text.ts';

/** `roundfold recall`: messages that left a conversation, as they were. */
export const recall: CommandDefinition = {
  name: 'recall',
  summary: 'read messages that left a conversation, byte for byte, by the handle that stands in their place',
  arguments: '<handle>',
  argumentHelp: 'as a summary, a receipt or `roundfold search` names it: rf:…',
  options: [
    { flags: '--text', help: 'the messages as text, to be read' },
    storeOption,
    tenantOption,
    jsonOption,
  ],
  examples: [
    ['roundfold recall rf:1f0c… > messages.json', 'the messages, byte for byte'],
    ['roundfold recall rf:1f0c… --text | less', 'to read them'],
  ],
  details: () => `${STORE_TEXT}\n${EXIT_CODE_TEXT}\n`,
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run(work: StoreWork): Promise<ExitCode> {
  const { given, report } = work;
  const span = await findSpan(work, given.positional[0] ?? '');
  if (report.json) writeSpan(report, span);
  else if (given.flag('text')) report.terminal.out(spanText(span));
  else {
    const { terminal } = report;
    // What a program reads is byte for byte what was kept; on a screen it says the same.
    terminal.data(process.stdout.isTTY ? printableJson(Buffer.from(span.body).toString()) : span.body);
    // The prompt of a shell has its own line; what is written stays as it is.
    if (process.stdout.isTTY) report.terminal.talk('\n');
  }
  return exitCodes.done;
}

async function findSpan({ given, access }: StoreWork, handle: string): Promise<ArchivedSpan> {
  const store = access.forReading();
  const tenant = store === undefined ? undefined : await findTenant(store, given.text('tenant'));
  const span = tenant === undefined ? undefined : await store?.recall({ tenant, handle });
  if (span !== undefined) return span;
  refuseFaults(access);
  throw new RoundfoldError('store', `nothing is stored under ${printable(handle, 80)}`, {
    remedy: `${
      handle.startsWith('rf:') ? '' : 'A handle begins with `rf:`. '
    }Look for the messages by their words: roundfold search WORDS.`,
  });
}

function writeSpan(report: Report, span: ArchivedSpan): void {
  const { tenant, conversation, handle, start, end, createdAt, body } = span;
  const messages = parseMessages(body);
  const content = messages === undefined ? { body: Buffer.from(body).toString('base64') } : { messages };
  writeJson(report, 'span', { tenant, conversation, handle, start, end, createdAt, ...content });
}
