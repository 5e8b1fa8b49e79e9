import { RoundfoldError } from '../../conversation/errors.ts';
import { printable, printableJson, printableLines } from '../../conversation/printable.ts';
import { pagesOf } from '../../memory/pages/pages.ts';
import { formatPages, type PageRange } from '../../report/page-words.ts';
import { messagesOfSpan, parseSpan } from '../../stores/spans.ts';
import type { ArchivedSpan } from '../../stores/store.ts';
import type { CommandDefinition } from '../command.ts';
import { EXIT_CODE_TEXT, type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../report.ts';
import { refuseFaults } from '../store/fault-error.ts';
import { findTenant } from '../store/find-conversation.ts';
import { jsonOption, STORE_TEXT, storeOption, tenantOption } from '../store/options.ts';
import { overStore, type StoreWork } from '../store/over-store.ts';
import { pageOptions, readPageRange, withinPages } from '../store/page-range.ts';

/** `roundfold recall`: messages that left a conversation, page by page or as they were. */
export const recall: CommandDefinition = {
  name: 'recall',
  summary: 'read messages that left a conversation, page by page, by the handle that stands in their place',
  arguments: '<handle>',
  argumentHelp: 'as a summary, a receipt or `roundfold search` names it: rf:…',
  options: [...pageOptions, storeOption, tenantOption, jsonOption],
  examples: [
    ['roundfold recall rf:1f0c…', 'the first page, and how many there are'],
    ['roundfold recall rf:1f0c… --page 12', 'the page that a summary calls (A12), when A is this handle'],
    ['roundfold recall rf:1f0c… --raw > messages.json', 'the messages, byte for byte'],
  ],
  details: () => `${PAGE_TEXT}\n${STORE_TEXT}\n${EXIT_CODE_TEXT}\n`,
  run: (given, terminal) => overStore(given, terminal, run),
};

const PAGE_TEXT = `A page has whole lines and about 2,000 tokens. A page that does not exist ends with
exit code 2, a handle under which nothing is stored with 1.
`;

async function run(work: StoreWork): Promise<ExitCode> {
  const { given, report } = work;
  const asked = readPageRange(given);
  const span = await findSpan(work, given.positional[0] ?? '');
  if (given.flag('raw')) writeRaw(report, span);
  else {
    const pages = pagesOf(messagesOfSpan(span));
    const range = withinPages(asked, pages.length);
    if (!report.json) printPages(report, pages, range);
    else if (given.flag('all')) writeSpan(report, span, pages.length);
    else writePages(report, span, { pages, range });
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

function writeRaw({ terminal }: Report, { body }: ArchivedSpan): void {
  // What a program reads is byte for byte what was kept; on a screen it says the same.
  terminal.data(process.stdout.isTTY ? printableJson(Buffer.from(body).toString()) : body);
  // The prompt of a shell has its own line; what is written stays as it is.
  if (process.stdout.isTTY) terminal.talk('\n');
}

function printPages({ terminal }: Report, pages: readonly string[], range: PageRange): void {
  const text = pages.slice(range.first - 1, range.last).join('');
  // Tabs stay tabs: whoever quotes a line of a page in an edit needs it as it was.
  const safe = text.split('\t').map(printableLines).join('\t');
  terminal.data(safe.endsWith('\n') ? safe : `${safe}\n`);
  const isEnd = range.last === pages.length;
  terminal.talk(`${formatPages(range, pages.length)}${isEnd ? '' : `; --page ${range.last + 1} goes on`}\n`);
}

function writePages(
  report: Report,
  { tenant, conversation, handle, start, end, createdAt }: ArchivedSpan,
  { pages, range }: { readonly pages: readonly string[]; readonly range: PageRange },
): void {
  for (let page = range.first; page <= range.last; page++) {
    const text = pages[page - 1];
    const place = { page, pages: pages.length };
    writeJson(report, 'page', { tenant, conversation, handle, start, end, createdAt, ...place, text });
  }
}

function writeSpan(report: Report, span: ArchivedSpan, pages: number): void {
  const { tenant, conversation, handle, start, end, createdAt, body } = span;
  const messages = parseSpan(span);
  const content = messages === undefined ? { body: Buffer.from(body).toString('base64') } : { messages };
  writeJson(report, 'span', { tenant, conversation, handle, start, end, createdAt, pages, ...content });
}
