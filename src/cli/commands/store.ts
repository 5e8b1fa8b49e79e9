import { printable } from '../../conversation/printable.ts';
import { countOf, formatBytes, formatCount, formatTime } from '../../report/terminal.ts';
import type { Checkpoint, StoredConversation, StoreFault } from '../../stores/store.ts';
import { type CommandDefinition, type CommandGroup, jsonOption } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, sayRemedy, writeJson } from '../output.ts';
import {
  countRecords,
  faultError,
  findConversation,
  overStore,
  STORE_HELP,
  type StoreWork,
  sayNothingStored,
  storeOption,
  tenantOption,
} from '../store.ts';
import { keyOption, readTenant } from '../tenant.ts';
import { askToDelete } from './store/confirm.ts';
import { erase } from './store/erase.ts';
import { exportRecords } from './store/export.ts';
import { importRecords } from './store/import.ts';
import { printConversations } from './store/listing.ts';
import { prune } from './store/prune.ts';

/** `roundfold store ls`: the conversations of a store. */
const list: CommandDefinition = {
  name: 'ls',
  summary: 'list the conversations, the last used first',
  options: [tenantOption, keyOption, storeOption, jsonOption],
  examples: [
    ['roundfold store ls', 'conversations with their checkpoints, spans, size and last use'],
    ['roundfold store ls --json', 'with whole ids and tenants, for a program'],
  ],
  run: (given, report) => overStore(given, report, runList),
};

async function runList(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const store = access.forReading();
  if (store === undefined) return sayNothingStored(work);
  const conversations = await store.list({ tenant: await readTenant(given) });
  if (conversations.length === 0) report.terminal.talk('nothing is stored yet\n');
  else printConversations(report, conversations);
  return exitCodes.done;
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
  const sizes = `${countOf(found.checkpoints, 'checkpoint')} and ${countOf(found.spans, 'span')}, ${formatBytes(found.bytes)}`;
  const what = `conversation ${printable(found.conversation)} (${sizes})`;
  const answer = given.flag('yes') ? 'yes' : await askToDelete(what);
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

/** `roundfold store`: what is kept between turns. */
export const store: CommandGroup = {
  name: 'store',
  summary: 'look after what is kept between turns: checkpoints, and the messages that left',
  commands: [list, show, prune, exportRecords, importRecords, verify, forget, erase],
  examples: [
    ['roundfold store ls', 'what there is'],
    ['roundfold store prune --older-than 30d', 'remove what nobody has used for a month'],
    ['roundfold store export backup.jsonl', 'everything, in one file for you alone'],
  ],
  details: () => STORE_HELP,
};
