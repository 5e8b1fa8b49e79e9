/** Plans: edits as data, applied without mutation and undone exactly. */

import { RoundfoldError } from '../../conversation/errors.ts';
import { type Conversation, type Format, withMessages } from '../../conversation/format.ts';
import type { Block, Message } from '../../conversation/message.ts';

/**
 * One change to a list of messages. Edits are data, in the coordinates of the list they are made for: they can be looked
 * at, stored and applied later.
 *
 * - `drop`: the messages from `start` up to and without `end` leave
 * - `summarize`: they leave, and a user message with `text` stands in their place
 * - `insert`: a user message with `text` comes before the message at `before`; it may be the summary of what is dropped
 * - `rewrite`: the content of a tool result becomes `text`
 * - `strip`: a block leaves, or (with `inner`) a block inside a tool result; `text` stands in its place where given
 */
export type Edit =
  | {
      readonly type: 'drop';
      readonly start: number;
      readonly end: number;
      /** A summary elsewhere in the list speaks for them. */
      readonly isSummarised?: boolean;
    }
  | { readonly type: 'summarize'; readonly start: number; readonly end: number; readonly text: string }
  | {
      readonly type: 'insert';
      readonly before: number;
      readonly text: string;
      /** Texts that stand in front of it in the same message. */
      readonly opening?: readonly string[];
      /** It speaks for the messages that are dropped as summarised. */
      readonly isSummary?: boolean;
    }
  | { readonly type: 'rewrite'; readonly message: number; readonly block: number; readonly text: string }
  | {
      readonly type: 'strip';
      readonly message: number;
      readonly block: number;
      readonly inner?: number;
      readonly text?: string;
    };

/** What became of an original message. */
export type Fate = 'verbatim' | 'reduced' | 'summarised' | 'dropped';

/** Everything that shall happen to one list, step by step. Each step is in the coordinates of the list it finds. */
export interface Plan {
  readonly steps: readonly (readonly Edit[])[];
}

/** A stretch of the original list: taken over from the new one, or kept because it left or was changed. */
type UndoRun = { readonly from: number; readonly count: number } | { readonly raws: readonly unknown[] };

/** What it takes to have the original list back. Plain data. */
export interface UndoRecord {
  readonly version: 1;
  /** How many messages the changed list had: what a conversation has behind them came later, and stays. */
  readonly length: number;
  readonly runs: readonly UndoRun[];
}

export interface AppliedPlan {
  readonly conversation: Conversation;
  readonly undo: UndoRecord;
  /** One for each original message. */
  readonly fates: readonly Fate[];
  /** For each message that is there now the original it was; -1 for one that was made. */
  readonly origins: readonly number[];
}

/**
 * The conversation after all steps, and the way back. Untouched messages are the same values; nothing given is changed.
 * @throws RoundfoldError `usage` when edits overlap or point outside the list
 */
export function applyPlan(conversation: Conversation, plan: Plan): AppliedPlan {
  const { messages, format } = conversation;
  let current = messages;
  let trace: Trace = { origins: [...messages.keys()], fates: messages.map(() => 'verbatim') };
  for (const edits of plan.steps) {
    const step = applyStep(current, edits, format);
    trace = compose(trace, step);
    current = step.messages;
  }
  return {
    conversation: withMessages(conversation, current),
    undo: { version: 1, length: current.length, runs: undoRuns(messages, current, trace.origins) },
    ...trace,
  };
}

/** What happened to a list so far. */
type Trace = Pick<AppliedPlan, 'fates' | 'origins'>;

function compose({ origins: earlier, fates: earlierFates }: Trace, step: Trace): Trace {
  const fates = earlierFates.slice();
  for (const [index, fate] of step.fates.entries()) {
    const origin = earlier[index] ?? -1;
    if (origin >= 0 && fate !== 'verbatim') fates[origin] = fate;
  }
  const origins = step.origins.map((index) => (index < 0 ? -1 : (earlier[index] ?? -1)));
  return { origins, fates };
}

/**
 * The original conversation, from the one a plan was applied to and the record it left, with everything that was added
 * since.
 * @throws RoundfoldError `usage` when the conversation is shorter than the one the record is about
 */
export function undoPlan<Body>(conversation: Conversation<Body>, undo: UndoRecord): Conversation<Body> {
  const { format, messages } = conversation;
  if (messages.length < undo.length) {
    const lengths = `${messages.length} messages, where the record is about ${undo.length}`;
    throw new RoundfoldError('usage', `this undo record belongs to another conversation: ${lengths}`, {
      remedy: 'Give the conversation that the compaction made, or one that goes on from it.',
    });
  }
  const original = undo.runs.flatMap((run) =>
    'raws' in run
      ? run.raws.map((raw) => format.readMessage(raw))
      : // Read again, so that what was reported for the original context is known again.
        messages.slice(run.from, run.from + run.count).map(({ raw }) => format.readMessage(raw)),
  );
  return withMessages(conversation, [...original, ...messages.slice(undo.length)]);
}

function undoRuns(
  before: readonly Message[],
  after: readonly Message[],
  origins: readonly number[],
): readonly UndoRun[] {
  const places = new Int32Array(before.length).fill(-1);
  for (const [place, origin] of origins.entries()) if (origin >= 0) places[origin] = place;
  const runs: ({ from: number; count: number } | { raws: unknown[] })[] = [];
  for (const [index, { raw }] of before.entries()) {
    const place = places[index] ?? -1;
    const isSame = place >= 0 && after[place]?.raw === raw;
    const last = runs.at(-1);
    if (isSame) {
      if (last !== undefined && 'from' in last && last.from + last.count === place) last.count++;
      else runs.push({ from: place, count: 1 });
    } else if (last !== undefined && 'raws' in last) last.raws.push(raw);
    else runs.push({ raws: [raw] });
  }
  return runs;
}

/** A list after one step of a plan. */
export interface StepResult extends Trace {
  readonly messages: readonly Message[];
}

/**
 * Makes all edits of one step.
 * @throws RoundfoldError `usage` when edits overlap or point outside the list
 */
export function applyStep(messages: readonly Message[], edits: readonly Edit[], format: Format): StepResult {
  const { leaving, inserts, inside } = sortEdits(edits, messages.length);
  const firstChanged = firstPlace(edits);
  const result: Message[] = [];
  const origins: number[] = [];
  const push = (made: readonly Message[], origin: number): void => {
    for (const message of made) {
      result.push(message);
      origins.push(origin);
    }
  };
  const sayBefore = (index: number): void => {
    for (const insert of inserts.get(index) ?? []) push(messagesOf(insert, format), -1);
  };
  const fates = messages.map((message, index): Fate => {
    sayBefore(index);
    const range = leaving[index];
    if (range !== undefined) {
      if (range.type === 'summarize' && range.start === index) push(messagesOf(range, format), -1);
      return range.type === 'summarize' || range.isSummarised === true ? 'summarised' : 'dropped';
    }
    const edited = editMessage(message, inside.get(index) ?? [], format);
    // No provider takes a message without content.
    if (edited !== message && edited.blocks.length === 0) return 'dropped';
    // What a provider reported for the longer context is not true of the shorter one, from the first change on.
    push([index < firstChanged ? edited : withoutUsage(edited)], index);
    return edited === message ? 'verbatim' : 'reduced';
  });
  sayBefore(messages.length);
  return { messages: result, origins, fates };
}

/** The message of ours that an edit puts into the list, as the format writes it. */
function messagesOf(
  { text, opening = [] }: Pick<Insert, 'text' | 'opening'>,
  format: Format,
): readonly Message[] {
  return format.userMessages([...opening, text].map((each) => format.textBlock(each)));
}

type Range = Extract<Edit, { start: number }>;
type Insert = Extract<Edit, { before: number }>;
type BlockEdit = Extract<Edit, { block: number }>;

/** The edits by what they touch. */
interface SortedEdits {
  /** For each message the range that it leaves with. */
  readonly leaving: readonly (Range | undefined)[];
  /** By the message that they come before. */
  readonly inserts: ReadonlyMap<number, readonly Insert[]>;
  /** By the message that they change. */
  readonly inside: ReadonlyMap<number, readonly BlockEdit[]>;
}

/** @throws RoundfoldError `usage` when edits overlap or point outside the list */
function sortEdits(edits: readonly Edit[], length: number): SortedEdits {
  const leaving = new Array<Range | undefined>(length).fill(undefined);
  for (const range of edits.filter(isRange)) {
    const { start, end } = range;
    const isWithin = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end <= length;
    const isFree = () => leaving.slice(start, end).every((other) => other === undefined);
    if (!isWithin || end <= start || !isFree()) throw badPlan(`messages ${start} to ${end}`);
    leaving.fill(range, start, end);
  }
  const inserts = edits.filter((edit) => edit.type === 'insert');
  const inside = edits.filter((edit) => edit.type === 'rewrite' || edit.type === 'strip');
  // Nothing can be put into, or changed in, what leaves; in front of it something can stand.
  const isInside = (place: number) => leaving[place] !== undefined;
  for (const { before } of inserts)
    if (!isPlace(before, length) || (isInside(before) && leaving[before] === leaving[before - 1]))
      throw badPlan(`message ${before}`);
  for (const { message } of inside)
    if (!isPlace(message, length - 1) || isInside(message)) throw badPlan(`message ${message}`);
  return { leaving, inserts: Map.groupBy(inserts, startOf), inside: Map.groupBy(inside, startOf) };
}

function isRange(edit: Edit): edit is Range {
  return edit.type === 'drop' || edit.type === 'summarize';
}

function isPlace(index: number, last: number): boolean {
  return Number.isInteger(index) && index >= 0 && index <= last;
}

function firstPlace(edits: readonly Edit[]): number {
  return edits.reduce((first, edit) => Math.min(first, startOf(edit)), Number.POSITIVE_INFINITY);
}

function startOf(edit: Edit): number {
  if (isRange(edit)) return edit.start;
  return edit.type === 'insert' ? edit.before : edit.message;
}

function badPlan(place: string): RoundfoldError {
  return new RoundfoldError('usage', `the plan does not fit this conversation: ${place}`, {
    remedy: 'Apply a plan only to the conversation it was made for.',
  });
}

function editMessage(message: Message, edits: readonly BlockEdit[], format: Format): Message {
  if (edits.length === 0) return message;
  // Inner blocks go from the back, so that the places of those before stay true.
  const sorted = edits.toSorted((left, right) => left.block - right.block || innerOf(right) - innerOf(left));
  for (const [index, edit] of sorted.entries()) refuseBadBlock(edit, sorted[index - 1], message.blocks);
  const editsOf = Map.groupBy(sorted, ({ block }) => block);
  const blocks = message.blocks.map((block, index) =>
    (editsOf.get(index) ?? []).reduce<Block | undefined>(
      (edited, edit) => edited && editBlock(edited, edit, format),
      block,
    ),
  );
  if (blocks.every((block, index) => block === message.blocks[index])) return message;
  return format.withBlocks(
    message,
    blocks.filter((block) => block !== undefined),
  );
}

/** Every edit finds its block, and no two edits the same one: `before` is the one sorted before it. */
function refuseBadBlock(edit: BlockEdit, before: BlockEdit | undefined, blocks: readonly Block[]): void {
  const block = blocks[edit.block];
  const inner = innerOf(edit);
  const isThere =
    block !== undefined &&
    (edit.type !== 'rewrite' || block.type === 'tool-result') &&
    (inner < 0 || (block.type === 'tool-result' && block.content[inner] !== undefined));
  // Those of one block stand together, the one for the whole of it last.
  const overlaps =
    before?.block === edit.block && (inner < 0 || innerOf(before) < 0 || innerOf(before) === inner);
  if (!isThere || overlaps) throw badPlan(`block ${edit.block} of message ${edit.message}`);
}

function innerOf(edit: BlockEdit): number {
  return edit.type === 'strip' ? (edit.inner ?? -1) : -1;
}

function editBlock(block: Block, edit: BlockEdit, format: Format): Block | undefined {
  const substitute = edit.text === undefined ? [] : [format.textBlock(edit.text)];
  if (edit.type === 'strip' && edit.inner === undefined) return substitute[0];
  if (block.type !== 'tool-result') return block;
  const content =
    edit.type === 'rewrite' ? substitute : block.content.toSpliced(innerOf(edit), 1, ...substitute);
  return format.withResultContent(block, content);
}

const messagesWithoutUsage = new WeakMap<Message, Message>();

/** The message without what a provider reported. Always the same value for the same message, so that its size stays known. */
export function withoutUsage(message: Message): Message {
  if (message.usage === undefined) return message;
  const bare = messagesWithoutUsage.get(message) ?? { ...message, usage: undefined };
  messagesWithoutUsage.set(message, bare);
  return bare;
}

/** Edits that take out reasoning behind the first change: it was signed for another prefix, and would be refused. */
export function stripBoundReasoning(messages: readonly Message[], edits: readonly Edit[]): readonly Edit[] {
  const { leaving } = sortEdits(edits, messages.length);
  const first = firstPlace(edits);
  return messages.flatMap(({ blocks }, message): readonly Edit[] => {
    if (message < first || leaving[message] !== undefined) return [];
    return blocks.flatMap(({ type }, block) =>
      type === 'reasoning' ? [{ type: 'strip', message, block }] : [],
    );
  });
}
