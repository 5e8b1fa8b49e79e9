import { printable } from '../../conversation/printable.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { Checkpoint, StoredConversation } from '../../stores/store.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../report.ts';
import { findConversation } from './find-conversation.ts';
import { jsonOption, storeOption, tenantOption } from './options.ts';
import { overStore, type StoreWork } from './over-store.ts';
import { formatBytes, formatPlace, formatTime } from './short-forms.ts';

/** `roundfold store show`: the checkpoints of one conversation. */
export const show: CommandDefinition = {
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
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run({ given, report, access }: StoreWork): Promise<ExitCode> {
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

/** A stretch of messages that can be read again. */
interface Handle {
  readonly handle: string;
  readonly start: number;
  readonly end: number;
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

interface Shown {
  /** Handles that stand above: a checkpoint has those of the one it went on from. */
  readonly known: Set<string>;
  readonly isComplete: boolean;
}

function printCheckpoint({ terminal }: Report, checkpoint: Checkpoint, { known, isComplete }: Shown): void {
  const { boundary, createdAt, receipt } = checkpoint;
  const tokens = `${formatCount(receipt.tokensBefore)} → ${formatCount(receipt.tokensAfter)} tokens`;
  const title = terminal.style('bold', `first ${countOf(boundary, 'message')}`);
  terminal.out(
    `\n${title}: ${tokens}, ${printable(String(receipt.strategy))}, made ${formatTime(createdAt)}\n`,
  );
  const handles = handlesOf(checkpoint);
  const added = handles.filter(({ handle }) => !known.has(handle));
  const shown = isComplete ? added : added.slice(0, SHOWN_HANDLES);
  for (const one of shown) {
    terminal.out(`  ${terminal.style('cyan', printable(one.handle))} ${formatPlace(one)}\n`);
  }
  if (added.length > shown.length)
    terminal.out(`  … and ${added.length - shown.length} more (--all shows them)\n`);
  if (handles.length > added.length)
    terminal.out(`  and ${countOf(handles.length - added.length, 'handle')} from above\n`);
  for (const { handle } of added) known.add(handle);
}

const SHOWN_HANDLES = 20;

/** What a checkpoint can give back: a handle may stand for several runs. */
function handlesOf({ receipt }: Checkpoint): readonly Handle[] {
  const found = new Map<string, Handle>();
  // Of what was imported, a store knows that it has a receipt, not what that says.
  for (const { handle, start, end } of Array.isArray(receipt.runs) ? receipt.runs : []) {
    if (handle === undefined) continue;
    const known = found.get(handle);
    found.set(handle, {
      handle,
      start: Math.min(known?.start ?? start, start),
      end: Math.max(known?.end ?? end, end),
    });
  }
  return [...found.values()];
}
