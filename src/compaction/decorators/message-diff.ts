import type { Conversation } from '../../conversation/format.ts';
import type { Block, Message, Role } from '../../conversation/message.ts';
import { textOf } from '../../conversation/message.ts';
import { printable } from '../../conversation/printable.ts';
import { readSummaryMessage, SUMMARY_HEADING } from '../../conversation/summary-message.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';
import type { UndoRecord } from '../plan/plan.ts';
import type { Receipt } from '../plan/receipt.ts';
import type { Change } from '../plan/strategy.ts';

/** A message in short. */
export interface DiffSide {
  readonly index: number;
  readonly role: Role;
  readonly tokens: number;
  /** One printable line: what kinds of block it has, and its first words. */
  readonly text: string;
}

/** What became of one message. `gone` has no `after`, `new` has no `before`. */
export interface MessageDiff {
  readonly change: 'kept' | 'changed' | 'gone' | 'new';
  readonly before?: DiffSide;
  readonly after?: DiffSide;
}

/** Every message from before and after, in order; what is new stands behind what went in its place. */
export function diffMessages(
  before: Conversation,
  { conversation, undo, receipt }: Change,
  estimator: TokenEstimator,
): readonly MessageDiff[] {
  const places = keptPlaces(undo, before.messages.length);
  const kept = new Set(places);
  const changed = changedPlaces(before.messages, conversation.messages, { places, kept, receipt });
  const sideOf = (message: Message, index: number): DiffSide => ({
    index,
    role: message.role,
    tokens: Math.round(estimator.countMessage(message)),
    text: shortText(message),
  });

  const diff: MessageDiff[] = [];
  let next = 0;
  const sayNew = (end: number): void => {
    for (const message of conversation.messages.slice(next, end)) {
      diff.push({ change: 'new', after: sideOf(message, next++) });
    }
  };
  for (const [index, message] of before.messages.entries()) {
    const place = places[index] ?? changed.get(index);
    const after = place === undefined ? undefined : conversation.messages[place];
    if (place === undefined || after === undefined) {
      diff.push({ change: 'gone', before: sideOf(message, index) });
      continue;
    }
    sayNew(place);
    const change = changed.has(index) ? 'changed' : 'kept';
    diff.push({ change, before: sideOf(message, index), after: sideOf(after, place) });
    next = place + 1;
  }
  sayNew(conversation.messages.length);
  return diff;
}

/** For each message from before the place it has now, where it is the same value. */
function keptPlaces({ runs }: UndoRecord, length: number): readonly (number | undefined)[] {
  const places = new Array<number | undefined>(length).fill(undefined);
  let index = 0;
  for (const run of runs) {
    if ('raws' in run) {
      index += run.raws.length;
      continue;
    }
    for (let offset = 0; offset < run.count; offset++) places[index++] = run.from + offset;
  }
  return places;
}

/** Where the messages are now that were made smaller: between their kept neighbours, and like them in role and ids. */
function changedPlaces(
  before: readonly Message[],
  after: readonly Message[],
  {
    places,
    kept,
    receipt,
  }: {
    readonly places: readonly (number | undefined)[];
    readonly kept: ReadonlySet<number | undefined>;
    readonly receipt: Receipt;
  },
): ReadonlyMap<number, number> {
  const changed = new Map<number, number>();
  let next = 0;
  for (const { fate, start, end } of receipt.runs) {
    for (let index = start; index < end; index++) {
      const place = places[index];
      const message = before[index];
      if (place !== undefined) next = place + 1;
      if (fate !== 'reduced' || place !== undefined || message === undefined) continue;
      let candidate = next;
      while (candidate < after.length && !kept.has(candidate) && !isLike(message, after[candidate]))
        candidate++;
      if (candidate >= after.length || kept.has(candidate)) continue;
      changed.set(index, candidate);
      next = candidate + 1;
    }
  }
  return changed;
}

function isLike(before: Message, after: Message | undefined): boolean {
  if (after === undefined || after.role !== before.role || readSummaryMessage(after) !== undefined)
    return false;
  return idsOf(before) === idsOf(after);
}

function idsOf({ blocks }: Message): string {
  return JSON.stringify(
    blocks.flatMap((block) => {
      if (block.type === 'tool-call') return [block.id ?? block.name];
      return block.type === 'tool-result' ? [block.callId ?? block.name ?? ''] : [];
    }),
  );
}

const SHOWN_CHARACTERS = 80;

/** A message as one short line: its kinds of block and its first words. */
function shortText(message: Message): string {
  const summary = readSummaryMessage(message);
  const text =
    summary === undefined ? message.blocks.map(blockText).join(' ') : `${SUMMARY_HEADING} ${summary}`;
  return printable(text, SHOWN_CHARACTERS);
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return firstWords(block.text);
    case 'tool-call':
      return `[called ${block.name}]`;
    case 'tool-result':
      return `[${block.isError ? 'tool error' : 'tool result'}: ${firstWords(textOf(block))}]`;
    case 'media':
      return `[${block.media}]`;
    case 'reasoning':
    case 'compaction':
      return `[${block.type}]`;
    case 'other':
      return `[${block.wireType ?? 'unknown'}]`;
  }
}

function firstWords(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS);
}
