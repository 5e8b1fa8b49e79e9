import { RoundfoldError } from '../../conversation/errors.ts';
import { printable, printableJson, printableLines } from '../../conversation/printable.ts';
import { pagesOf } from '../../memory/pages.ts';
import { formatPages, noSuchPage, type PageRange } from '../../report/terminal.ts';
import type { ArchivedSpan } from '../../stores/store.ts';
import {
  type CommandDefinition,
  type GivenArguments,
  jsonOption,
  type OptionDefinition,
  readNumber,
} from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../output.ts';
import {
  overStore,
  recallSpan,
  refuseFaults,
  STORE_HELP,
  type StoreWork,
  storeOption,
  tenantOption,
} from '../store.ts';

/** Ways to say how much is read: one of them at most. */
const pageOptions: readonly OptionDefinition[] = [
  { flags: '--page <number>', help: 'which page, from 1 on (default 1)' },
  { flags: '--pages <first-last>', help: 'several pages: 3-5' },
  { flags: '--all', help: 'every page; with --json the messages themselves' },
  { flags: '--raw', help: 'the messages as JSON, byte for byte as they were kept' },
];

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
  details: () => `${PAGE_TEXT}\n${STORE_HELP}`,
  run: (given, report) => overStore(given, report, run),
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
    // Loaded here, so that help does without.
    const { messagesOfSpan, parseSpan } = await import('../../stores/spans.ts');
    const pages = pagesOf(messagesOfSpan(span));
    const range = withinPages(asked, pages.length);
    if (!report.json) printPages(report, pages, range);
    else if (given.flag('all')) writeSpan(report, span, { pages: pages.length, messages: parseSpan(span) });
    else writePages(report, span, { pages, range });
  }
  return exitCodes.done;
}

/**
 * The pages that are asked for: the first one where nothing is said, an endless range for all of them.
 * @throws `usage` for what is no range, and for two ways of saying it at once
 */
function readPageRange(given: GivenArguments): PageRange {
  const page = readNumber(given, 'page', { from: 1 });
  const pages = given.text('pages');
  const isAll = given.flag('all');
  if ([page !== undefined, pages !== undefined, isAll, given.flag('raw')].filter(Boolean).length > 1) {
    throw new RoundfoldError('usage', '--page, --pages, --all and --raw cannot be combined', {
      remedy: 'Give one of them.',
    });
  }
  if (pages !== undefined) return parseRange(pages);
  return isAll ? { first: 1, last: Number.POSITIVE_INFINITY } : { first: page ?? 1, last: page ?? 1 };
}

function parseRange(text: string): PageRange {
  const [, first, last] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (range.first >= 1 && range.last >= range.first) return range;
  throw new RoundfoldError(
    'usage',
    `--pages takes a first and a last page, not ${JSON.stringify(text.slice(0, 40))}`,
    { remedy: 'For the third to the fifth: --pages 3-5.' },
  );
}

/**
 * Holds a range to the pages that there are.
 * @throws `usage` when it asks for one that does not exist
 */
function withinPages({ first, last }: PageRange, pages: number): PageRange {
  const end = last === Number.POSITIVE_INFINITY ? pages : last;
  if (end <= pages) return { first, last: end };
  throw new RoundfoldError('usage', noSuchPage(Math.max(first, pages + 1), pages), {
    remedy: pages === 1 ? 'Leave the number out.' : `Give a number from 1 to ${pages}.`,
  });
}

async function findSpan({ given, access }: StoreWork, handle: string): Promise<ArchivedSpan> {
  const store = access.forReading();
  const span = store && (await recallSpan(store, { handle, tenant: given.text('tenant') }));
  if (span !== undefined) return span;
  refuseFaults(access);
  throw new RoundfoldError('store', `nothing is stored under ${printable(handle, 80)}`, {
    remedy: `${
      handle.startsWith('rf:') ? '' : 'A handle begins with `rf:`. '
    }Look for the messages by their words: roundfold search WORDS.`,
  });
}

function writeRaw({ terminal }: Report, { body }: ArchivedSpan): void {
  // A program gets the bytes as they were kept; a screen gets the same with control characters escaped.
  terminal.data(process.stdout.isTTY ? printableJson(Buffer.from(body).toString()) : body);
  // Puts the prompt of the shell on a line of its own, without changing the data.
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

function writeSpan(
  report: Report,
  { tenant, conversation, handle, start, end, createdAt, body }: ArchivedSpan,
  { pages, messages }: { readonly pages: number; readonly messages: readonly unknown[] | undefined },
): void {
  const content = messages === undefined ? { body: Buffer.from(body).toString('base64') } : { messages };
  writeJson(report, 'span', { tenant, conversation, handle, start, end, createdAt, pages, ...content });
}
