import { createInterface } from 'node:readline';
import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { countOf, drawTable, formatBytes, formatCount, formatTime } from '../../report/terminal.ts';
import type { Checkpoint, Retention, StoredConversation, StoreFault } from '../../stores/store.ts';
import {
  type CommandDefinition,
  type CommandGroup,
  type GivenArguments,
  jsonOption,
  readNumber,
} from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, sayRemedy, writeJson } from '../output.ts';
import {
  countRecords,
  faultError,
  findConversation,
  idLength,
  overStore,
  STORE_HELP,
  type StoreWork,
  sayNothingStored,
  storeOption,
  tenantOption,
} from '../store.ts';
import { exportRecords } from './store-export.ts';
import { importRecords } from './store-import.ts';

/** `roundfold store ls`: the conversations of a store. */
const list: CommandDefinition = {
  name: 'ls',
  summary: 'list the conversations, the last used first',
  options: [tenantOption, storeOption, jsonOption],
  examples: [
    ['roundfold store ls', 'conversations with their checkpoints, spans, size and last use'],
    ['roundfold store ls --json', 'with whole ids, for a program'],
  ],
  run: (given, report) => overStore(given, report, runList),
};

async function runList(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  const conversations = await store.list({ tenant: given.text('tenant') });
  if (conversations.length === 0) report.terminal.talk('nothing is stored yet\n');
  else printConversations(report, conversations);
  return exitCodes.done;
}

/** Conversations as a table, or a line of JSON for each. */
function printConversations(report: Report, conversations: readonly StoredConversation[]): void {
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
  const columns = [
    { title: 'conversation', align: 'left' },
    ...(hasTenants ? [{ title: 'tenant', align: 'left' } as const] : []),
    { title: 'checkpoints', align: 'right' },
    { title: 'spans', align: 'right' },
    { title: 'size', align: 'right' },
    { title: 'last used (UTC)', align: 'left' },
  ] as const;
  const titles = columns.map(({ title }) => title);
  report.terminal.out(drawTable([titles, ...rows], columns, ''));
}

/** `roundfold store show`: the checkpoints of one conversation. */
const show: CommandDefinition = {
  name: 'show',
  summary: 'show the checkpoints of a conversation, and the handles of what left',
  arguments: '<id>',
  argumentHelp: 'of the conversation; its beginning is enough',
  options: [
    { flags: '--all', help: 'every handle, however many there are' },
    tenantOption,
    storeOption,
    jsonOption,
  ],
  examples: [['roundfold store show 3fa9', 'what each checkpoint covers, saves and can give back']],
  run: (given, report) => overStore(given, report, runShow),
};

async function runShow({ given, report, access }: StoreWork): Promise<ExitCode> {
  const store = access.forReading();
  const id = given.positional[0] ?? '';
  const conversation = await findConversation(store, { id, tenant: given.text('tenant') });
  const checkpoints = (await store?.checkpoints(conversation)) ?? [];
  if (!report.json) printTitle(report, conversation);
  const known = new Set<string>();
  for (const checkpoint of checkpoints) {
    if (report.json) writeCheckpoint(report, checkpoint);
    else printCheckpoint(report, checkpoint, { known, isComplete: given.flag('all') });
  }
  return exitCodes.done;
}

function printTitle({ terminal }: Report, one: StoredConversation): void {
  terminal.out(`${terminal.style('bold', printable(one.conversation))}\n`);
  const counts = `${countOf(one.checkpoints, 'checkpoint')}, ${countOf(one.spans, 'span')}, ${formatBytes(one.bytes)}`;
  const times = `since ${formatTime(one.createdAt)}, last used ${formatTime(one.usedAt)} (UTC)`;
  terminal.out(`tenant ${printable(one.tenant)}; ${counts}; ${times}\n`);
}

function writeCheckpoint(report: Report, checkpoint: Checkpoint): void {
  const { tenant, conversation, chain, boundary, configuration, parent, createdAt, receipt } = checkpoint;
  const { strategy, tokensBefore, tokensAfter, messagesBefore, messagesAfter } = receipt;
  writeJson(report, 'checkpoint', {
    tenant,
    conversation,
    chain,
    boundary,
    configuration,
    parent,
    createdAt,
    strategy,
    tokensBefore,
    tokensAfter,
    messagesBefore,
    messagesAfter,
    handles: handlesOf(checkpoint),
  });
}

/** @param known handles that stand above: a checkpoint has those of the one it went on from */
function printCheckpoint(
  { terminal }: Report,
  checkpoint: Checkpoint,
  { known, isComplete }: { readonly known: Set<string>; readonly isComplete: boolean },
): void {
  const { boundary, createdAt, receipt } = checkpoint;
  const tokens = `${formatCount(receipt.tokensBefore)} → ${formatCount(receipt.tokensAfter)} tokens`;
  const title = terminal.style('bold', `first ${countOf(boundary, 'message')}`);
  terminal.out(
    `\n${title}: ${tokens}, ${printable(String(receipt.strategy))}, made ${formatTime(createdAt)}\n`,
  );
  const handles = handlesOf(checkpoint);
  const added = handles.filter(({ handle }) => !known.has(handle));
  const shown = isComplete ? added : added.slice(0, SHOWN_HANDLES);
  for (const { handle, start, end } of shown) {
    const place = end - start === 1 ? `message ${end}` : `messages ${start + 1} to ${end}`;
    terminal.out(`  ${terminal.style('cyan', printable(handle))} ${place}\n`);
  }
  if (added.length > shown.length)
    terminal.out(`  … and ${added.length - shown.length} more (--all shows them)\n`);
  if (handles.length > added.length)
    terminal.out(`  and ${countOf(handles.length - added.length, 'handle')} from above\n`);
  for (const { handle } of added) known.add(handle);
}

const SHOWN_HANDLES = 20;

/** The messages that a checkpoint can give back: a handle may stand for several runs of them. */
function handlesOf({ receipt }: Checkpoint) {
  // A store does not check what the receipt of an imported checkpoint holds.
  const runs = Array.isArray(receipt.runs) ? receipt.runs : [];
  const found = new Map<string, { handle: string; start: number; end: number }>();
  for (const { handle, start, end } of runs) {
    if (handle === undefined) continue;
    const known = found.get(handle) ?? { handle, start, end };
    found.set(handle, { handle, start: Math.min(known.start, start), end: Math.max(known.end, end) });
  }
  return [...found.values()];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** `roundfold store gc`: removes what nobody uses. */
const collect: CommandDefinition = {
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
  run: (given, report) => overStore(given, report, runCollect),
};

async function runCollect(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const retention = readRetention(given);
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  if (given.flag('dryRun')) return previewCollection(report, await store.list(), retention);
  const records = await store.collect(retention);
  if (report.json) writeJson(report, 'collection', { isDryRun: false, records });
  else report.terminal.out(`removed ${countOf(records, 'record')}\n`);
  return exitCodes.done;
}

function readRetention(given: GivenArguments): Retention {
  const days = readNumber(given, 'unused-days', { from: 0 });
  const maximumBytes = readNumber(given, 'max-bytes', { from: 0 });
  if (days === undefined && maximumBytes === undefined) {
    throw new RoundfoldError('usage', 'nothing says what may go', {
      remedy: 'Give --unused-days, --max-bytes or both.',
    });
  }
  return { unusedMilliseconds: days === undefined ? undefined : days * DAY_MS, maximumBytes };
}

async function previewCollection(
  report: Report,
  listed: readonly StoredConversation[],
  retention: Retention,
): Promise<ExitCode> {
  const { conversationsToCollect } = await import('../../stores/rules.ts');
  const leaving = conversationsToCollect(listed, retention, Date.now());
  const records = countRecords(leaving);
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

/** `roundfold store verify`: reads every record. */
const verify: CommandDefinition = {
  name: 'verify',
  summary: 'read every record and list those that cannot be served',
  options: [storeOption, jsonOption],
  examples: [['roundfold store verify', 'ends with 1 when something is wrong']],
  run: (given, report) => overStore(given, report, runVerify),
};

async function runVerify(work: StoreWork): Promise<ExitCode> {
  const { report, access } = work;
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  const faults = await store.verify();
  const records = countRecords(await store.list());
  for (const fault of faults) printFault(report, fault);
  if (report.json) writeJson(report, 'verification', { records, faults: faults.length });
  else sayVerdict(report, records, faults);
  return faults.length === 0 ? exitCodes.done : exitCodes.failed;
}

function printFault(report: Report, fault: StoreFault): void {
  if (report.json) {
    writeJson(report, 'fault', fault);
    return;
  }
  const { terminal } = report;
  const { kind, tenant, name, reason } = fault;
  terminal.out(
    `${terminal.style('red', reason)} ${kind} ${printable(name)} of tenant ${printable(tenant)}\n`,
  );
}

function sayVerdict({ terminal }: Report, records: number, faults: readonly StoreFault[]): void {
  if (faults.length === 0) {
    terminal.out(`${terminal.style('green', 'sound')} ${countOf(records, 'record')}\n`);
    return;
  }
  terminal.out(`${countOf(faults.length, 'fault')} in ${countOf(records, 'record')}\n`);
  const { remedy } = faultError(faults);
  if (remedy !== undefined) sayRemedy(terminal, remedy);
}

/** `roundfold store forget`: deletes a conversation. */
const forget: CommandDefinition = {
  name: 'forget',
  summary: 'delete every record of a conversation for good',
  arguments: '<id>',
  argumentHelp: 'of the conversation; its beginning is enough',
  options: [{ flags: '-y, --yes', help: 'do not ask' }, tenantOption, storeOption, jsonOption],
  examples: [['roundfold store forget 3fa9', 'asks before it deletes']],
  run: (given, report) => overStore(given, report, runForget),
};

async function runForget({ given, report, access }: StoreWork): Promise<ExitCode> {
  const store = access.forReading();
  const id = given.positional[0] ?? '';
  const found = await findConversation(store, { id, tenant: given.text('tenant') });
  const answer = given.flag('yes') ? 'yes' : await ask(found);
  if (answer !== 'yes') {
    report.terminal.talk('nothing was deleted\n');
    return answer === 'no' ? exitCodes.failed : exitCodes.interrupted;
  }
  const { tenant, conversation } = found;
  const records = (await store?.forget({ tenant, conversation })) ?? 0;
  if (report.json) writeJson(report, 'forgotten', { tenant, conversation, records });
  else report.terminal.out(`deleted ${countOf(records, 'record')} of ${printable(conversation)}\n`);
  return exitCodes.done;
}

type Answer = 'yes' | 'no' | 'interrupted';

async function ask(one: StoredConversation): Promise<Answer> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new RoundfoldError('usage', 'nobody is there to confirm the deletion', {
      remedy: 'Give --yes to delete without a question.',
    });
  }
  const records = `${countOf(one.checkpoints, 'checkpoint')} and ${countOf(one.spans, 'span')}, ${formatBytes(one.bytes)}`;
  const question = `Delete conversation ${printable(one.conversation)} (${records}) for good? [y/N] `;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<Answer>((answer) => {
      const leave = (how: Answer) => {
        // The cursor is still on the line of the question.
        process.stderr.write('\n');
        answer(how);
      };
      terminal.once('SIGINT', () => leave('interrupted'));
      terminal.once('close', () => leave('no'));
      terminal.question(question, (text) => answer(/^y(es)?$/i.test(text.trim()) ? 'yes' : 'no'));
    });
  } finally {
    terminal.removeAllListeners('close').close();
  }
}

/** `roundfold store`: what is kept between turns. */
export const store: CommandGroup = {
  name: 'store',
  summary: 'look after what is kept between turns: checkpoints, and the messages that left',
  commands: [list, show, collect, exportRecords, importRecords, verify, forget],
  examples: [
    ['roundfold store ls', 'what there is'],
    ['roundfold store gc --unused-days 30', 'forget what nobody has used for a month'],
    ['roundfold store export backup.jsonl', 'everything, in one file for you alone'],
  ],
  details: () => STORE_HELP,
};
