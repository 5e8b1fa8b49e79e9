import { RoundfoldError } from '../../conversation/errors.ts';
import type { Format } from '../../conversation/format.ts';
import type { Block, Message } from '../../conversation/message.ts';
import type { Edit, Fate } from './plan.ts';

/** A list after one step of a plan. */
export interface StepResult {
  readonly messages: readonly Message[];
  /** For each message the index it had before the step; -1 for one that was made. */
  readonly origins: readonly number[];
  /** What became of each message that was there before. */
  readonly fates: readonly Fate[];
}

/**
 * Makes all edits of one step.
 * @throws RoundfoldError `usage` when edits overlap or point outside the list
 */
export function applyStep(messages: readonly Message[], edits: readonly Edit[], format: Format): StepResult {
  const { ranges, inserts, inside } = sortEdits(edits, messages.length);
  if (ranges.length === 0 && inserts.length === 0) {
    const result = editInPlace(messages, inside, format);
    if (result !== undefined) return result;
  }
  const builder = new ListBuilder(messages, format);
  let nextRange = 0;
  let nextInsert = 0;
  let nextInside = 0;
  for (let index = 0; index <= messages.length; ) {
    for (let insert = inserts[nextInsert]; insert?.before === index; insert = inserts[++nextInsert])
      builder.say(insert.text, insert.opening);
    const range = ranges[nextRange];
    if (range?.start === index) {
      // Nothing can be put into, or changed in, what leaves.
      const lost = [inserts[nextInsert]?.before, inside[nextInside]?.message].find(
        (place) => place !== undefined && place < range.end,
      );
      if (lost !== undefined) throw badPlan(`message ${lost}`);
      builder.replace(range);
      index = range.end;
      nextRange++;
      continue;
    }
    const begin = nextInside;
    while (inside[nextInside]?.message === index) nextInside++;
    builder.keep(index, ownEdits(inside, begin, nextInside));
    index++;
  }
  return builder.finish(firstChange({ ranges, inserts, inside }));
}

type Range = Extract<Edit, { start: number }>;
type Insert = Extract<Edit, { before: number }>;
type BlockEdit = Extract<Edit, { block: number }>;

/** The edits of one message: mostly none, or a single one, for which there is no list. */
type OwnEdits = undefined | BlockEdit | readonly BlockEdit[];

function ownEdits(edits: readonly BlockEdit[], begin: number, end: number): OwnEdits {
  if (begin === end) return undefined;
  return end - begin === 1 ? edits[begin] : edits.slice(begin, end);
}

/** The edits by what they touch, each kind in the order of the list. */
interface SortedEdits {
  readonly ranges: readonly Range[];
  readonly inserts: readonly Insert[];
  readonly inside: readonly BlockEdit[];
}

class ListBuilder {
  private readonly before: readonly Message[];
  private readonly format: Format;
  private readonly messages: Message[] = [];
  private readonly origins: number[] = [];
  private readonly fates: Fate[];

  constructor(before: readonly Message[], format: Format) {
    this.before = before;
    this.format = format;
    this.fates = new Array<Fate>(before.length).fill('verbatim');
  }

  say(text: string, opening: readonly string[] = []): void {
    const blocks = [...opening, text].map((each) => this.format.textBlock(each));
    for (const message of this.format.userMessages(blocks)) {
      this.messages.push(message);
      this.origins.push(-1);
    }
  }

  replace(range: Range): void {
    if (range.type === 'summarize') this.say(range.text);
    const isSummarised = range.type === 'summarize' || range.isSummarised === true;
    this.fates.fill(isSummarised ? 'summarised' : 'dropped', range.start, range.end);
  }

  keep(index: number, edits: OwnEdits): void {
    const message = this.before[index];
    if (message === undefined) return;
    const edited = edits === undefined ? message : editMessage(message, edits, this.format);
    if (edited !== message) this.fates[index] = edited.blocks.length === 0 ? 'dropped' : 'reduced';
    // No provider takes a message without content.
    if (edited !== message && edited.blocks.length === 0) return;
    this.messages.push(edited);
    this.origins.push(index);
  }

  /** What a provider reported for the longer context is not true of the shorter one, from the first change on. */
  finish(firstChanged: number): StepResult {
    const { messages, origins, fates } = this;
    for (let place = messages.length - 1; place >= 0; place--) {
      const message = messages[place];
      const origin = origins[place] ?? -1;
      if (origin >= 0 && origin < firstChanged) break;
      if (message?.usage !== undefined && origin >= 0) messages[place] = withoutUsage(message);
    }
    return { messages, origins, fates };
  }
}

function sortEdits(edits: readonly Edit[], length: number): SortedEdits {
  const ranges: Range[] = [];
  const inserts: Insert[] = [];
  const inside: BlockEdit[] = [];
  for (const edit of edits) {
    if (edit.type === 'drop' || edit.type === 'summarize') {
      ranges.push(edit);
    } else if (edit.type === 'insert') {
      check(edit.before, length);
      inserts.push(edit);
    } else {
      check(edit.message, length - 1);
      inside.push(edit);
    }
  }
  ranges.sort((left, right) => left.start - right.start);
  let free = 0;
  for (const { start, end } of ranges) {
    const isSound = Number.isInteger(start) && Number.isInteger(end) && end > start && end <= length;
    if (!isSound || start < free) throw badPlan(`messages ${start} to ${end}`);
    free = end;
  }
  inserts.sort((left, right) => left.before - right.before);
  inside.sort((left, right) => left.message - right.message);
  return { ranges, inserts, inside };
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

function check(index: number, limit: number): void {
  if (!Number.isInteger(index) || index < 0 || index > limit) throw badPlan(`message ${index}`);
}

function badPlan(place: string): RoundfoldError {
  return new RoundfoldError('usage', `the plan does not fit this conversation: ${place}`, {
    remedy: 'Apply a plan only to the conversation it was made for.',
  });
}

function firstChange({ ranges, inserts, inside }: SortedEdits): number {
  return Math.min(
    ranges[0]?.start ?? Number.POSITIVE_INFINITY,
    inserts[0]?.before ?? Number.POSITIVE_INFINITY,
    inside[0]?.message ?? Number.POSITIVE_INFINITY,
  );
}

/** What edits made of a list without moving a message. */
interface EditedList {
  readonly before: readonly Message[];
  readonly edits: readonly BlockEdit[];
  readonly format: Format | undefined;
  readonly after: readonly Message[];
  readonly fates: readonly Fate[];
}

const NOTHING_EDITED: EditedList = { before: [], edits: [], format: undefined, after: [], fates: [] };

const editedLists = new WeakMap<Message, EditedList>();

/**
 * A step that moves no message. The next turn of a conversation mostly makes the edits of the last one again, and goes on
 * where they end: what was made of a message then is the very same value now. Undefined when a message loses all it has.
 */
function editInPlace(
  messages: readonly Message[],
  edits: readonly BlockEdit[],
  format: Format,
): StepResult | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  const known = editedLists.get(first) ?? NOTHING_EDITED;
  const { place, next } = sharedPlace(known, messages, { edits, format });
  const after = known.after.slice(0, place);
  const fates = known.fates.slice(0, place);
  const firstChanged = edits[0]?.message ?? messages.length;
  for (let index = place, edit = next; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined) continue;
    const begin = edit;
    while (edits[edit]?.message === index) edit++;
    const own = ownEdits(edits, begin, edit);
    const edited = own === undefined ? message : editMessage(message, own, format);
    if (edited !== message && edited.blocks.length === 0) return undefined;
    fates.push(edited === message ? 'verbatim' : 'reduced');
    after.push(index >= firstChanged && edited.usage !== undefined ? withoutUsage(edited) : edited);
  }
  editedLists.set(first, { before: messages, edits, format, after, fates });
  return {
    messages: after,
    fates,
    // Nothing has moved. Whoever wants to see that may.
    get origins() {
      return [...after.keys()];
    },
  };
}

/** The first message that is another one, or is edited in another way, than the last time; and the first edit from there. */
function sharedPlace(
  known: EditedList,
  messages: readonly Message[],
  { edits, format }: { readonly edits: readonly BlockEdit[]; readonly format: Format },
): { readonly place: number; readonly next: number } {
  if (known.format !== format) return { place: 0, next: 0 };
  let next = 0;
  while (next < edits.length && isSameEdit(known.edits[next], edits[next])) next++;
  let place = 0;
  const limit = Math.min(
    messages.length,
    known.before.length,
    edits[next]?.message ?? messages.length,
    known.edits[next]?.message ?? messages.length,
  );
  while (place < limit && known.before[place] === messages[place]) place++;
  while (next > 0 && (edits[next - 1]?.message ?? 0) >= place) next--;
  return { place, next };
}

function isSameEdit(left: BlockEdit | undefined, right: BlockEdit | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  return (
    left.type === right.type &&
    left.message === right.message &&
    left.block === right.block &&
    innerOf(left) === innerOf(right) &&
    left.text === right.text
  );
}

function editMessage(message: Message, edits: BlockEdit | readonly BlockEdit[], format: Format): Message {
  if ('type' in edits) return editOnce(message, edits, format);
  // Inner blocks go from the back, so that the places of those before stay true.
  const sorted = edits.toSorted((left, right) => left.block - right.block || innerOf(right) - innerOf(left));
  for (const [index, edit] of sorted.entries()) refuseBadBlock(edit, sorted[index - 1], message.blocks);
  return editBlocks(message, sorted, format);
}

function editOnce(message: Message, edit: BlockEdit, format: Format): Message {
  refuseBadBlock(edit, undefined, message.blocks);
  const block = message.blocks[edit.block];
  const edited = block === undefined ? undefined : editBlock(block, edit, format);
  if (edited === block) return message;
  const changed = edited === undefined ? [] : [edited];
  const blocks = message.blocks.length === 1 ? changed : message.blocks.toSpliced(edit.block, 1, ...changed);
  return format.withBlocks(message, blocks);
}

function editBlocks(message: Message, edits: readonly BlockEdit[], format: Format): Message {
  const blocks: Block[] = [];
  let isSame = true;
  let next = 0;
  for (let index = 0; index < message.blocks.length; index++) {
    const block = message.blocks[index];
    let edited = block;
    for (let edit = edits[next]; edit?.block === index; edit = edits[++next]) {
      if (edited !== undefined) edited = editBlock(edited, edit, format);
    }
    if (edited !== block) isSame = false;
    if (edited !== undefined) blocks.push(edited);
  }
  return isSame ? message : format.withBlocks(message, blocks);
}

function innerOf(edit: BlockEdit): number {
  return edit.type === 'strip' ? (edit.inner ?? -1) : -1;
}

function editBlock(block: Block, edit: BlockEdit, format: Format): Block | undefined {
  if (edit.type === 'rewrite') {
    return block.type === 'tool-result'
      ? format.withResultContent(block, contentOf(edit.text, format))
      : block;
  }
  const substitute = edit.text === undefined ? undefined : format.textBlock(edit.text);
  if (edit.inner === undefined) return substitute;
  if (block.type !== 'tool-result') return block;
  const content = block.content.flatMap((inner, index) => {
    if (index !== edit.inner) return [inner];
    return substitute === undefined ? [] : [substitute];
  });
  return format.withResultContent(block, content);
}

let lastContent:
  | { readonly text: string; readonly format: Format; readonly content: readonly Block[] }
  | undefined;

/** Text as the content of a result. Thousands of results get the same one. */
function contentOf(text: string, format: Format): readonly Block[] {
  if (lastContent?.text !== text || lastContent.format !== format)
    lastContent = { text, format, content: [format.textBlock(text)] };
  return lastContent.content;
}

const messagesWithoutUsage = new WeakMap<Message, Message>();

/** The message without what a provider reported. Always the same value for the same message, so that its size stays known. */
export function withoutUsage(message: Message): Message {
  const known = messagesWithoutUsage.get(message);
  if (known !== undefined) return known;
  const bare = { ...message, usage: undefined };
  messagesWithoutUsage.set(message, bare);
  return bare;
}

/** Edits that take out reasoning behind the first change: it was signed for another prefix, and would be refused. */
export function stripBoundReasoning(messages: readonly Message[], edits: readonly Edit[]): readonly Edit[] {
  const leaves = new Uint8Array(messages.length);
  let first = messages.length;
  for (const edit of edits) {
    if (edit.type === 'drop' || edit.type === 'summarize') leaves.fill(1, edit.start, edit.end);
    first = Math.min(first, startOf(edit));
  }
  const strips: Edit[] = [];
  for (let index = first; index < messages.length; index++) {
    if (leaves[index] === 1) continue;
    for (const [block, { type }] of (messages[index]?.blocks ?? []).entries()) {
      if (type === 'reasoning') strips.push({ type: 'strip', message: index, block });
    }
  }
  return strips;
}

function startOf(edit: Edit): number {
  if (edit.type === 'drop' || edit.type === 'summarize') return edit.start;
  return edit.type === 'insert' ? edit.before : edit.message;
}
