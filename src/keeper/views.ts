/** Puts the parts of a checkpoint and the rest of the request together, and traces where each message comes from. */

import { applyStep, type Edit, type Fate, type Plan, withoutUsage } from '../compaction/plan/plan.ts';
import type { Conversation, Format } from '../conversation/format.ts';
import { isObject } from '../conversation/json.ts';
import type { Message } from '../conversation/message.ts';
import { neverChanges } from '../formats/view-memory.ts';
import type { Checkpoint, Stretch, ViewPart } from '../stores/store.ts';

export interface ViewOptions {
  /** Number of system messages in front, which stay there. */
  readonly head: number;
  /**
   * Reasoning of messages before this one was written behind another prefix, and leaves; for models that refuse it. In
   * the coordinates of the checkpoint. Default: all of it stays.
   */
  readonly boundBefore?: number | undefined;
}

/**
 * What is sent: the checkpoint's parts and everything after its boundary. Messages that stand as they are, are the very
 * values of this request. The same checkpoint gives the same messages turn after turn, and whatever is new at the end.
 */
export function projectView(
  conversation: Conversation,
  checkpoint: Checkpoint,
  { head, boundBefore = 0 }: ViewOptions,
): Conversation {
  const { format, messages } = conversation;
  const view: Message[] = [];
  let isChanged = false;
  for (const { from, raw } of piecesOf(messages, { head, checkpoint })) {
    const original = from === undefined ? undefined : messages[head + from];
    if (from === undefined || original === undefined) {
      isChanged = true;
      // A checkpoint is immutable.
      if (isObject(raw)) neverChanges(raw);
      view.push(format.readMessage(raw));
      continue;
    }
    const shown = isChanged && from < boundBefore ? withoutReasoning(original, format) : original;
    // What was reported for the whole is not true of the view.
    if (shown !== undefined) view.push(isChanged && shown.usage !== undefined ? withoutUsage(shown) : shown);
  }
  return { ...conversation, messages: view };
}

const messagesWithoutReasoning = new WeakMap<Message, Message | 'nothing-left'>();

/** Undefined when it was nothing else. Always the same value for the same message. */
function withoutReasoning(message: Message, format: Format): Message | undefined {
  const known = messagesWithoutReasoning.get(message);
  if (known !== undefined) return known === 'nothing-left' ? undefined : known;
  const blocks = message.blocks.filter(({ type }) => type !== 'reasoning');
  if (blocks.length === message.blocks.length) return message;
  const bare = blocks.length === 0 ? 'nothing-left' : format.withBlocks(message, blocks);
  messagesWithoutReasoning.set(message, bare);
  return bare === 'nothing-left' ? undefined : bare;
}

/** Where a message of a view comes from. */
export interface Piece {
  /** The original message it is, as it is; undefined for one that was made. Negative for the system messages in front. */
  readonly from: number | undefined;
  readonly raw: unknown;
  /** The original messages it speaks for. */
  readonly of: readonly Stretch[];
  /** What became of those. */
  readonly fate: Exclude<Fate, 'dropped'>;
}

/** The pieces of the view of a checkpoint, one for each message; of the list as it is without one. */
export function piecesOf(
  messages: readonly Message[],
  { head, checkpoint }: { readonly head: number; readonly checkpoint: Checkpoint | undefined },
): readonly Piece[] {
  const pieces: Piece[] = [];
  const show = (start: number, end: number) => {
    for (const [index, { raw }] of messages.slice(head + start, head + end).entries()) {
      const from = start + index;
      pieces.push({ from, raw, of: from < 0 ? [] : [{ start: from, end: from + 1 }], fate: 'verbatim' });
    }
  };
  show(-head, 0);
  for (const part of checkpoint?.parts ?? []) {
    if ('from' in part) show(part.from, part.from + part.count);
    else pieces.push(madePiece(part, checkpoint));
  }
  show(checkpoint?.boundary ?? 0, messages.length - head);
  return pieces;
}

function madePiece(
  { raw, of = [] }: Extract<ViewPart, { raw: unknown }>,
  checkpoint: Checkpoint | undefined,
): Piece {
  const first = of[0]?.start ?? -1;
  const run = checkpoint?.receipt.runs.find(({ start, end }) => start <= first && first < end);
  return { from: undefined, raw, of, fate: run?.fate === 'reduced' ? 'reduced' : 'summarised' };
}

/** Stretches in order, those that touch as one. */
export function joinStretches(stretches: readonly Stretch[]): readonly Stretch[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of stretches.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** Follows every message of a view through a plan: where each message comes from that stands there in the end. */
export function tracePlan(view: Conversation, pieces: readonly Piece[], plan: Plan): readonly Piece[] {
  let messages = view.messages;
  let traced = pieces;
  for (const edits of plan.steps) {
    const step = applyStep(messages, edits, view.format);
    messages = step.messages;
    traced = traceStep(traced, edits, step);
  }
  return traced;
}

function traceStep(
  before: readonly Piece[],
  edits: readonly Edit[],
  { messages, origins }: { readonly messages: readonly Message[]; readonly origins: readonly number[] },
): readonly Piece[] {
  const makers = makersOf(before, edits);
  let next = 0;
  return origins.map((origin, place): Piece => {
    const raw = messages[place]?.raw;
    const piece = before[origin];
    if (piece === undefined) return { from: undefined, raw, of: makers[next++] ?? [], fate: 'summarised' };
    if (piece.raw === raw) return piece;
    return { from: undefined, raw, of: piece.of, fate: piece.fate === 'verbatim' ? 'reduced' : piece.fate };
  });
}

type Maker = Extract<Edit, { type: 'summarize' | 'insert' }>;

/** For each message that a step makes, in the order of the list, the original messages it speaks for. */
function makersOf(before: readonly Piece[], edits: readonly Edit[]): readonly Piece['of'][] {
  const makers = edits
    .filter((edit): edit is Maker => edit.type === 'summarize' || edit.type === 'insert')
    .toSorted((left, right) => placeOf(left) - placeOf(right) || rank(left) - rank(right));
  const spoken = makers.map((maker) => (maker.type === 'summarize' ? coverage(before, maker) : []));
  for (const edit of edits) {
    if (edit.type !== 'drop' || edit.isSummarised !== true) continue;
    // The summary that stands nearest before it speaks for it, else the first there is.
    const summaries = [...makers.keys()].filter((index) => isSummary(makers[index]));
    const index = summaries.findLast((each) => placeOf(makers[each]) <= edit.start) ?? summaries[0];
    if (index !== undefined) spoken[index] = [...(spoken[index] ?? []), ...coverage(before, edit)];
  }
  return spoken.map(joinStretches);
}

function isSummary(maker: Maker | undefined): boolean {
  return maker?.type === 'summarize' || maker?.isSummary === true;
}

function placeOf(maker: Maker | undefined): number {
  if (maker === undefined) return Number.POSITIVE_INFINITY;
  return maker.type === 'summarize' ? maker.start : maker.before;
}

/** What is put in front of a message stands before what replaces it. */
function rank({ type }: Maker): number {
  return type === 'insert' ? 0 : 1;
}

function coverage(
  before: readonly Piece[],
  { start, end }: { readonly start: number; readonly end: number },
) {
  return before.slice(start, end).flatMap(({ of }) => of);
}
