import { printable } from '../../conversation/printable.ts';
import { type CommandDefinition, jsonOption, readNumber } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../output.ts';
import {
  conversationOption,
  type FoundPage,
  idLength,
  overStore,
  refuseFaults,
  STORE_HELP,
  type StoreWork,
  sayNothingStored,
  searchSpans,
  storeOption,
  tenantOption,
} from '../store.ts';

const DEFAULT_LIMIT = 10;
const EXCERPT_LENGTH = 400;

/** `roundfold search`: finds messages that left a conversation, and the pages they are on. */
export const search: CommandDefinition = {
  name: 'search',
  summary: 'find messages that left a conversation by their words, and the pages to recall',
  arguments: '<words...>',
  argumentHelp: 'words, all of which occur in the messages; letters and digits count, in any case',
  options: [
    conversationOption,
    { flags: '--limit <number>', help: `matches at most (default ${DEFAULT_LIMIT})` },
    storeOption,
    tenantOption,
    jsonOption,
  ],
  examples: [
    ['roundfold search parser timeout', 'in all conversations, the last used first'],
    ['roundfold search parser --conversation 3fa9 --json', 'in one, for a program'],
  ],
  details: () => STORE_HELP,
  run: (given, report) => overStore(given, report, run),
};

async function run(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const limit = readNumber(given, 'limit', { from: 1 }) ?? DEFAULT_LIMIT;
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  const found = await searchSpans(store, {
    words: given.positional.join(' '),
    limit,
    tenant: given.text('tenant'),
    conversation: given.text('conversation'),
  });
  if (found.length === 0) {
    refuseFaults(access);
    report.terminal.talk('no stored messages have all of these words\n');
  }
  const length = idLength(found.map(({ conversation }) => conversation));
  for (const match of found) printMatch(report, match, length);
  if (found.length > 0 && !report.json)
    report.terminal.talk('roundfold recall HANDLE --page NUMBER reads one\n');
  if (found.length === limit && !report.json)
    report.terminal.talk(`${limit} shown; --limit shows more, further words fewer\n`);
  return exitCodes.done;
}

function printMatch(report: Report, match: FoundPage, length: number): void {
  if (report.json) {
    writeJson(report, 'match', match);
    return;
  }
  const { terminal } = report;
  const { page, pages, message, conversation } = match;
  const place = `page ${page} of ${pages}, message ${message}; conversation ${printable(conversation.slice(0, length))}`;
  terminal.out(`${terminal.style('cyan', printable(match.handle))} ${terminal.style('dim', place)}\n`);
  terminal.out(`    ${printable(match.excerpt, EXCERPT_LENGTH)}\n`);
}
