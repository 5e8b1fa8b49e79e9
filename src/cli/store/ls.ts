import { printable } from '../../conversation/printable.ts';
import { drawTable, formatCount } from '../../report/terminal.ts';
import type { StoredConversation } from '../../stores/store.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../report.ts';
import { jsonOption, storeOption, tenantOption } from './options.ts';
import { overStore, type StoreWork, sayNothingStored } from './over-store.ts';
import { formatBytes, formatTime, idLength } from './short-forms.ts';

/** `roundfold store ls`: the conversations of a store. */
export const list: CommandDefinition = {
  name: 'ls',
  summary: 'list the conversations, the last used first',
  options: [tenantOption, storeOption, jsonOption],
  examples: [
    ['roundfold store ls', 'conversations with their checkpoints, spans, size and last use'],
    ['roundfold store ls --json', 'with whole ids, for a program'],
  ],
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  const conversations = await store.list({ tenant: given.text('tenant') });
  if (conversations.length === 0) report.terminal.talk('nothing is stored yet\n');
  else printConversations(report, conversations);
  return exitCodes.done;
}

/** Conversations as a table, or a line of JSON for each. */
export function printConversations(report: Report, conversations: readonly StoredConversation[]): void {
  if (report.json) {
    for (const conversation of conversations) writeJson(report, 'conversation', conversation);
    return;
  }
  const length = idLength(conversations.map(({ conversation }) => conversation));
  const hasTenants = new Set(conversations.map(({ tenant }) => tenant)).size > 1;
  const rows = conversations.map((one) => [
    printable(one.conversation.slice(0, length)),
    ...(hasTenants ? [printable(one.tenant, 30)] : []),
    formatCount(one.checkpoints),
    formatCount(one.spans),
    formatBytes(one.bytes),
    formatTime(one.usedAt),
  ]);
  const titles = [
    'conversation',
    ...(hasTenants ? ['tenant'] : []),
    'checkpoints',
    'spans',
    'size',
    'last used (UTC)',
  ];
  const columns = titles.map((title) => ({
    align: NUMBERS.has(title) ? ('right' as const) : ('left' as const),
  }));
  report.terminal.out(drawTable([titles, ...rows], columns, ''));
}

const NUMBERS: ReadonlySet<string> = new Set(['checkpoints', 'spans', 'size']);
